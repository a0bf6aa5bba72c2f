// Builds the settings of what `start` does besides mirroring, which hold secrets.
import { readAlerts } from './alerts-config.ts';
import type { Config } from './config.ts';
import type { Complaint } from './config-error.ts';
import { readMetricsToken } from './metrics-token.ts';
import { listenSchema } from './schema/listen-schema.ts';
import { webSchema } from './schema/web-schema.ts';
import type { ServiceSurroundings } from './secret-file.ts';
import { settingOf } from './sites-and-feeds.ts';
import { makeWebConfig } from './web-config.ts';
import type { YamlSource } from './yaml-source.ts';

export interface Services extends Pick<Config, 'metricsToken' | 'alerts' | 'web'> {
  readonly complaints: readonly Complaint[];
  readonly warnings: readonly string[];
}

/** Builds them from raw settings. Skips what violates the schema: the check of the whole file reports it. */
export async function readServices(
  data: unknown,
  source: YamlSource,
  { env, folder }: Pick<ServiceSurroundings, 'env' | 'folder'>,
): Promise<Services> {
  const complaints: Complaint[] = [];
  const warnings: string[] = [];
  const around = {
    env,
    folder,
    complain: (path: readonly string[], message: string) => complaints.push(source.complain(path, message)),
    warn: (message: string) => warnings.push(message),
  };
  const listen = settingOf(data, 'listen');
  const web = await makeWebConfig(webSchema.optional().safeParse(settingOf(data, 'web')).data, {
    ...around,
    complain: (path, message) => around.complain(['web', ...path], message),
    listens: listen !== undefined,
    listen: listenSchema.safeParse(listen ?? {}).data ?? { host: '127.0.0.1', port: 8080 },
  });
  return {
    metricsToken: await readMetricsToken(settingOf(data, 'metrics'), around),
    alerts: await readAlerts(data, around),
    web,
    complaints,
    warnings,
  };
}
