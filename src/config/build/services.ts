// Builds the settings of what `start` does besides mirroring, and reads the secrets in them: alert destinations, and
// the token that protects `/metrics`.
import { ALERT_KINDS, POSTING_EVENTS } from '../../telemetry/alerts/alert-message.ts';
import type { AlertDestination, Config } from '../config.ts';
import type { Complaint } from '../config-error.ts';
import { fillText } from '../environment.ts';
import { readSecret, type SecretSettings, signingFault } from '../read-secret.ts';
import {
  alertsSchema,
  listenSchema,
  metricsSchema,
  type WrittenDestination,
  webSchema,
} from '../schema/services-schema.ts';
import { Secret } from '../secret.ts';
import type { YamlSource } from '../yaml-source.ts';
import { settingOf, settingsIn } from './sites-and-feeds.ts';
import { makeWebConfig } from './web-config.ts';

export interface Services extends Pick<Config, 'metricsToken' | 'alerts' | 'web'> {
  readonly complaints: readonly Complaint[];
  readonly warnings: readonly string[];
}

/** Builds them from raw settings. Skips what violates the schema: the check of the whole file reports it. */
export async function readServices(
  data: unknown,
  source: YamlSource,
  { env, folder, absent }: Pick<SecretSettings, 'env' | 'folder' | 'absent'>,
): Promise<Services> {
  const complaints: Complaint[] = [];
  const warnings: string[] = [];
  const within = (group: string): SecretSettings => ({
    env,
    folder,
    setting: group,
    complain: (path, message) => complaints.push(source.complain([group, ...path], message)),
    warn: (message) => warnings.push(message),
    absent: (path, message) => absent([group, ...path], message),
  });
  const listen = settingOf(data, 'listen');
  const web = await makeWebConfig(webSchema.optional().safeParse(settingOf(data, 'web')).data, {
    ...within('web'),
    listens: listen !== undefined,
    listen: listenSchema.safeParse(listen ?? {}).data ?? { host: '127.0.0.1', port: 8080 },
  });
  return {
    metricsToken: await readMetricsToken(settingOf(data, 'metrics'), within('metrics')),
    alerts: await readAlerts(data, within('alerts')),
    web,
    complaints,
    warnings,
  };
}

// Builds the alert destinations, and reads their secrets.

/** Skips destinations that violate the schema, which are reported elsewhere, or have a wrong secret, which is reported here. */
async function readAlerts(data: unknown, around: SecretSettings): Promise<ReadonlyMap<string, AlertDestination>> {
  const destinations = new Map<string, AlertDestination>();
  for (const [name, raw] of Object.entries(settingsIn(data, 'alerts'))) {
    const written = alertsSchema.safeParse({ [name]: raw }).data?.[name];
    const channel = written && (await channelOf(name, written, around));
    if (written === undefined || channel === undefined) continue;
    destinations.set(name, {
      name,
      channel,
      kinds: new Set(ALERT_KINDS.filter((kind) => written.on.includes(kind))),
      events: POSTING_EVENTS.filter((event) => written.on.includes(event)),
      feeds: written.feeds === undefined ? undefined : new Set(written.feeds),
      rejectedPercent: written.rejected_percent,
    });
  }
  return destinations;
}

async function channelOf(
  name: string,
  { url, email, format, ...written }: WrittenDestination,
  around: SecretSettings,
): Promise<AlertDestination['channel'] | undefined> {
  const address = (text: string, path: readonly string[], schemes: RegExp, form: string): Secret | undefined => {
    const absent = around.absent([name, ...path]);
    if (absent !== undefined) return absent;
    const filled = fillText(text, around.env);
    if (schemes.test(filled) && URL.canParse(filled)) return new Secret(filled);
    around.complain([name, ...path], `must be an address such as ${form}`);
    return undefined;
  };
  if (email !== undefined) {
    const smtp = address(email.smtp, ['email', 'smtp'], /^smtps?:\/\//, 'smtps://user:password@host:465');
    return smtp && { kind: 'email', smtp, from: email.from, to: email.to };
  }
  const target = url === undefined ? undefined : address(url, ['url'], /^https?:\/\//, 'https://host/path');
  if (format === 'slack') return target && { kind: 'slack', url: target };
  const secret = await readSecret(written, [[name], 'secret'], around, signingFault);
  return target === undefined || secret === undefined ? undefined : { kind: 'webhook', url: target, secret };
}

/** RFC 6750, 2.1: what a bearer token may hold. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;

/** A shorter one could be guessed. */
const SHORTEST = 16;

/** The token, if one is set; `undefined` also after a complaint. Skips settings that violate the schema, which are reported elsewhere. */
async function readMetricsToken(written: unknown, around: SecretSettings): Promise<Secret | undefined> {
  const { data } = metricsSchema.safeParse(written ?? {});
  return data === undefined ? undefined : readSecret(data, [[], 'token'], around, metricsTokenFault);
}

const metricsTokenFault = (text: string): string | undefined =>
  BEARER.test(text) && text.length >= SHORTEST
    ? undefined
    : `the token must have at least ${SHORTEST} characters, of A-Z a-z 0-9 . _ ~ + / - only`;
