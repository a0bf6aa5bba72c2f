// Builds the alert destinations, and reads their secrets.
import { ALERT_KINDS, POSTING_EVENTS } from '../telemetry/alerts/alert-message.ts';
import type { AlertDestination } from './config.ts';
import { fillText } from './environment.ts';
import { alertsSchema, type WrittenDestination } from './schema/alerts-schema.ts';
import { Secret } from './secret.ts';
import { readSecretFile, type ServiceSurroundings } from './secret-file.ts';
import { isSigningSecret, NO_SIGNING_SECRET } from './signing-secret.ts';
import { settingsIn } from './sites-and-feeds.ts';

/** Skips destinations that violate the schema, which are reported elsewhere, or have a wrong secret, which is reported here. */
export async function readAlerts(
  data: unknown,
  around: ServiceSurroundings,
): Promise<ReadonlyMap<string, AlertDestination>> {
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
  { url, email, format, secret, secret_file: file }: WrittenDestination,
  around: ServiceSurroundings,
): Promise<AlertDestination['channel'] | undefined> {
  const complain = (path: readonly string[], message: string) => around.complain(['alerts', name, ...path], message);
  const address = (text: string, path: readonly string[], schemes: RegExp, form: string): Secret | undefined => {
    const filled = fillText(text, around.env);
    // An unset variable is reported with the others.
    if (filled === '') return undefined;
    if (schemes.test(filled) && URL.canParse(filled)) return new Secret(filled);
    complain(path, `must be an address such as ${form}`);
    return undefined;
  };
  if (email !== undefined) {
    const smtp = address(email.smtp, ['email', 'smtp'], /^smtps?:\/\//, 'smtps://user:password@host:465');
    return smtp && { kind: 'email', smtp, from: email.from, to: email.to };
  }
  const target = url === undefined ? undefined : address(url, ['url'], /^https?:\/\//, 'https://host/path');
  if (format === 'slack') return target && { kind: 'slack', url: target };
  const setting = file === undefined ? 'secret' : 'secret_file';
  const text =
    file === undefined
      ? fillText(secret ?? '', around.env)
      : await readSecretFile(file, {
          ...around,
          setting: `alerts.${name}.secret_file`,
          complain: (message) => complain([setting], message),
        });
  if (target === undefined || text === undefined || (text === '' && file === undefined)) return undefined;
  if (isSigningSecret(text)) return { kind: 'webhook', url: target, secret: new Secret(text) };
  complain([setting], NO_SIGNING_SECRET);
  return undefined;
}
