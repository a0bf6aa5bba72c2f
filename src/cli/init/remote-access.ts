// Access to files on SFTP servers and in S3-compatible storage: secrets come from environment variables, which the
// configuration names.
import { relative, resolve } from 'node:path';
import { makeCredentials } from '../../config/build/credentials.ts';
import { makeSingleConfig } from '../../config/build/source-config.ts';
import type { SecretSettings } from '../../config/read-secret.ts';
import { isS3Address, isSftpAddress } from '../../config/schema/check-sources.ts';
import { feedSchema } from '../../config/schema/feed-schema.ts';
import type { SingleConfig } from '../../feed/source/sources.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { formatFrom } from '../../setup/preset-fit.ts';

/** How a source is reached: in the configuration, and now. */
export interface SourceAccess {
  /** For the configuration. */
  readonly source: string;
  /** Settings of the feed: headers and credentials. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Environment variables that the settings name, with the values that the person gave now. */
  readonly secrets: Readonly<Record<string, string>>;
  /** For reading it now. */
  readonly from: SingleConfig;
}

/** The options of `init` about such a source. */
export interface RemoteOptions {
  readonly user?: string;
  readonly keyFile?: string;
  readonly hostKey?: string;
  readonly region?: string;
  readonly endpoint?: string;
}

export interface RemoteContext {
  /** Begins the names of the feed's variables. */
  readonly prefix: string;
  /** Folder of the configuration file. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Without secrets, for messages. */
  readonly shown: string;
}

/** What the configuration says, and the values of its variables. */
interface Written {
  readonly source: string;
  readonly credentials: object;
  /** Values that are not in the environment yet. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** `undefined` for other addresses. Throws a `UserError` that names everything that is missing. */
export async function remoteAccess(
  address: string,
  options: RemoteOptions,
  context: RemoteContext,
): Promise<SourceAccess | undefined> {
  const written = isSftpAddress(address)
    ? sftpAccess(address, options, context)
    : isS3Address(address)
      ? s3Access(address, options, context)
      : undefined;
  if (written === undefined) return undefined;
  const { source, credentials, secrets } = written;
  return { source, settings: { credentials }, secrets, from: await open(written, context) };
}

function sftpAccess(address: string, options: RemoteOptions, { prefix, folder, env, shown }: RemoteContext): Written {
  if (!URL.canParse(address)) throw new UserError(`${shown} is no address that can be read`);
  const url = new URL(address);
  const [user, password] = [options.user ?? decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const [passwordVariable, passphraseVariable] = [`${prefix}_PASSWORD`, `${prefix}_PASSPHRASE`];
  const { hostKey } = options;
  const keyFile = options.keyFile === undefined ? undefined : relative(folder, resolve(options.keyFile));
  const hasPassword = password !== '' || Boolean(env[passwordVariable]);
  refuseMissing([
    user === '' && '--user NAME, the user name',
    keyFile === undefined &&
      !hasPassword &&
      `--key-file FILE, a private key, or the password in the environment variable ${passwordVariable}`,
    hostKey === undefined &&
      `--host-key SHA256:…, the fingerprint of the server's host key: ask its operator, or compare with ssh-keyscan ${url.port === '' ? '' : `-p ${url.port} `}${url.hostname} | ssh-keygen -lf -`,
  ]);
  url.username = '';
  url.password = '';
  const login = keyFile === undefined ? { password: `\${${passwordVariable}}` } : { key_file: keyFile };
  const passphrase =
    keyFile !== undefined && env[passphraseVariable] ? { passphrase: `\${${passphraseVariable}}` } : {};
  return {
    source: url.href,
    credentials: { sftp: { user, ...login, ...passphrase, host_key: hostKey } },
    secrets: keyFile === undefined && password !== '' ? { [passwordVariable]: password } : {},
  };
}

/** The variables are those that other programs for such storage read. */
function s3Access(address: string, options: RemoteOptions, { env }: RemoteContext): Written {
  const unset = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((name) => !env[name]);
  refuseMissing([unset.length > 0 && `the access key in the environment: ${unset.join(' and ')}`]);
  const region = options.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  const endpoint = options.endpoint ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  const s3 = {
    access_key_id: '$' + '{AWS_ACCESS_KEY_ID}',
    secret_access_key: '$' + '{AWS_SECRET_ACCESS_KEY}',
    ...(env.AWS_SESSION_TOKEN ? { session_token: '$' + '{AWS_SESSION_TOKEN}' } : {}),
    ...(region ? { region } : {}),
    ...(endpoint ? { endpoint } : {}),
  };
  return { source: address, credentials: { s3 }, secrets: {} };
}

function refuseMissing(missing: readonly (string | false)[]): void {
  const needs = missing.filter((each) => each !== false);
  if (needs.length > 0) throw new UserError(`init needs ${needs.join('; and ')}`);
}

/** Makes the source as the loaded configuration would. */
async function open({ source, credentials, secrets }: Written, { folder, env }: RemoteContext): Promise<SingleConfig> {
  const complaints: string[] = [];
  const format = formatFrom({ type: 'xml', records: 'any', key: 'any', fields: {} });
  const parsed = feedSchema.safeParse({ source, credentials, format: 'any', site: 'any' });
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) complaints.push(`${path.join('.')}: ${message}`);
  } else {
    const complain = (path: readonly string[], message: string) =>
      void complaints.push(`${path.join('.')}: ${message}`);
    const around: SecretSettings = {
      env: { ...env, ...secrets },
      folder,
      setting: 'credentials',
      complain,
      warn: () => undefined,
      absent(path, message) {
        if (message !== undefined) complain(path, message);
        return undefined;
      },
    };
    const made = parsed.data.credentials && (await makeCredentials(parsed.data.credentials, around));
    if (complaints.length === 0) {
      const accessKeyId = env.AWS_ACCESS_KEY_ID ?? '';
      const filled = made?.s3 === undefined ? made : { ...made, s3: { ...made.s3, accessKeyId } };
      return makeSingleConfig(source, { ...around, feed: parsed.data, format, credentials: filled, env });
    }
  }
  throw new UserError(`the feed cannot be read: ${complaints.join('; ')}`);
}
