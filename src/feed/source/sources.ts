// The kinds of sources, by name.
import { detailRequestIdentity, isRelativeTemplate, pathsInTemplate, templateFault } from './details/detail-request.ts';
import type { DetailDocument, DetailsConfig } from './details/details-config.ts';
import type { DetailFetcher, FetchedDetail, FetchingContext, Redirected } from './details/fetch-detail.ts';
import { type FileConfig, fileSource } from './file/file-source.ts';
import { type FilesConfig, filesSource } from './files/files-source.ts';
import type { Authorization, HttpConfig, HttpCredentials } from './http/http-config.ts';
import { httpSource } from './http/http-source.ts';
import { isSecretParameter, publicAddress } from './http/public-address.ts';
import { sentSecrets } from './http/sent-secrets.ts';
import { parseJsonPath } from './pages/json-path.ts';
import { PAGING_METHODS, type PagesConfig, type Paging } from './pages/pages-config.ts';
import { pagesSource } from './pages/pages-source.ts';
import { outerParameter } from './pages/query-parameter.ts';
import type { S3Access, S3Config } from './s3/s3-config.ts';
import { s3Source } from './s3/s3-source.ts';
import { REMOVED_SECRET, type SecretMask, type SentSecret, secretMask } from './secret-mask.ts';
import { type SeveralConfig, severalSource } from './several/several-source.ts';
import type { SftpConfig, SftpLogin } from './sftp/sftp-config.ts';
import { sftpSource } from './sftp/sftp-source.ts';
import type { OpenedSource, SourceContext, SourceKind } from './source.ts';
import { type StdinConfig, stdinSource } from './stdin/stdin-source.ts';

export {
  type Authorization,
  type DetailDocument,
  type DetailFetcher,
  type DetailsConfig,
  detailRequestIdentity,
  type FetchedDetail,
  type HttpCredentials,
  isRelativeTemplate,
  isSecretParameter,
  outerParameter,
  PAGING_METHODS,
  type Paging,
  pathsInTemplate,
  publicAddress,
  REMOVED_SECRET,
  type Redirected,
  type S3Access,
  type SecretMask,
  type SftpLogin,
  templateFault,
};

/** Where a feed comes from: the kind of source, and what that kind needs. */
export type SourceConfig = SingleConfig | SeveralConfig<SingleConfig>;

export type SingleConfig = HttpConfig | PagesConfig | FileConfig | FilesConfig | S3Config | SftpConfig | StdinConfig;

const KINDS: { readonly [Kind in SourceConfig['kind']]: SourceKind<Extract<SourceConfig, { kind: Kind }>> } = {
  http: httpSource,
  pages: pagesSource,
  file: fileSource,
  files: filesSource,
  s3: s3Source,
  sftp: sftpSource,
  stdin: stdinSource,
  several: severalSource({ kindOf: (member: SingleConfig) => kindOf(member) }),
};

/** Opens a source as its kind does. Throws only `BrokenOff`, and the reason of `context.signal`. */
export const openSource = (config: SourceConfig, context: SourceContext): Promise<OpenedSource> =>
  kindOf(config).open(config, context);

/** Whether a text is a path in the JSON of a page. */
export const isJsonPath = (text: string): boolean => parseJsonPath(text) !== undefined;

/** Fetches details as the list is fetched. Loads libraries that commands without pulls do not need. */
export const openDetailFetcher = async (
  http: HttpConfig,
  config: DetailsConfig,
  context: FetchingContext,
): Promise<DetailFetcher> => (await import('./details/fetch-detail.ts')).detailFetcher(http, config, context);

/** The request of a source over HTTP, or that of the first of several; `undefined` for other sources. */
export function httpOf(from: SourceConfig): HttpConfig | undefined {
  if (from.kind === 'several') return from.members.map(httpOf).find((http) => http !== undefined);
  return from.kind === 'pages' ? from.http : from.kind === 'http' ? from : undefined;
}

/** Removes the credentials of a feed's sources from what they sent; `undefined`: there are none. */
export function credentialsMask(from: SourceConfig): SecretMask | undefined {
  const members = from.kind === 'several' ? from.members : [from];
  return secretMask(members.flatMap(sentBy));
}

function sentBy(member: SingleConfig): readonly (() => readonly SentSecret[])[] {
  const http = httpOf(member);
  const sent = http === undefined ? fixedSecrets(kindOf(member).secretsOf(member)) : sentSecrets(http);
  return http?.credentials?.authorization?.kind === 'oauth2' || sent().length > 0 ? [sent] : [];
}

function fixedSecrets(texts: readonly string[]): () => readonly SentSecret[] {
  const sent = texts.map((text) => ({ text }));
  return () => sent;
}

export const kindOf = <Config extends SourceConfig>({ kind }: Config): SourceKind<Config> =>
  KINDS[kind] as SourceKind<Config>;
