// Reads the token that protects `/metrics`.
import { fillText } from './environment.ts';
import { metricsSchema } from './schema/metrics-schema.ts';
import { Secret } from './secret.ts';
import { readSecretFile, type ServiceSurroundings } from './secret-file.ts';

/** RFC 6750, 2.1: what a bearer token may hold. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;

/** A shorter one could be guessed. */
const SHORTEST = 16;

/** The token, if one is set; `undefined` also after a complaint. Skips settings that violate the schema, which are reported elsewhere. */
export async function readMetricsToken(written: unknown, around: ServiceSurroundings): Promise<Secret | undefined> {
  const { data } = metricsSchema.safeParse(written ?? {});
  if (data === undefined) return undefined;
  const { token, token_file: file } = data;
  if (token === undefined && file === undefined) return undefined;
  const setting = ['metrics', token === undefined ? 'token_file' : 'token'];
  const complain = (message: string): void => around.complain(setting, message);
  const text =
    token === undefined
      ? await readSecretFile(file ?? '', { ...around, setting: setting.join('.'), complain })
      : fillText(token, around.env);
  // An unset variable is reported with the others.
  if (text === undefined || (text === '' && token !== undefined)) return undefined;
  if (BEARER.test(text) && text.length >= SHORTEST) return new Secret(text);
  complain(`the token must have at least ${SHORTEST} characters, of A-Z a-z 0-9 . _ ~ + / - only`);
  return undefined;
}
