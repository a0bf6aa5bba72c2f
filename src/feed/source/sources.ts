// The kinds of sources, by name. The kinds that need libraries load them when a source is opened.

import {
  type FileConfig,
  type FilesConfig,
  fileSource,
  filesSource,
  type StdinConfig,
  stdinSource,
} from './folder/file-source.ts';
import { type S3Config, type SftpConfig, s3Place, sftpPlace } from './folder/remote-config.ts';
import { isSecretParameter, publicAddress, sentSecrets } from './http/credentials.ts';
import type { Authorization, HttpConfig, HttpCredentials } from './http/http-config.ts';
import { httpSource } from './http/http-source.ts';
import { isPrivateAddress, networkOfSources, publicNetwork, type RequestedAddresses } from './http/redirects.ts';
import {
  type DetailDocument,
  type DetailsConfig,
  detailRequestIdentity,
  isRelativeTemplate,
  pathsInTemplate,
  templateFault,
} from './pages/detail-request.ts';
import type { DetailFetcher, FetchedDetail, FetchingContext, Redirected } from './pages/fetch-detail.ts';
import { outerParameter } from './pages/fetch-page.ts';
import { askedRecords, comparableAddress, isSizeParameter, lettersOf, parseJsonPath } from './pages/next-address.ts';
import { PAGING_METHODS, type PagesConfig, type Paging, pagesDescriptions } from './pages/pages-config.ts';
import { REMOVED_SECRET, type SecretMask, type SentSecret, secretMask } from './secret-mask.ts';
import { type SeveralConfig, severalSource } from './several-source.ts';
import type { FindUpload, Network, OpenedSource, SourceContext, SourceKind, UploadedDocument } from './source.ts';
import { UPLOADED_FILE, type UploadConfig, uploadSource } from './upload-source.ts';

export {
  type Authorization,
  askedRecords,
  comparableAddress,
  type DetailDocument,
  type DetailFetcher,
  type DetailsConfig,
  detailRequestIdentity,
  type FetchedDetail,
  type FindUpload,
  type HttpCredentials,
  isPrivateAddress,
  isRelativeTemplate,
  isSecretParameter,
  isSizeParameter,
  lettersOf,
  type Network,
  networkOfSources,
  outerParameter,
  PAGING_METHODS,
  type Paging,
  pathsInTemplate,
  publicAddress,
  publicNetwork,
  REMOVED_SECRET,
  type Redirected,
  type RequestedAddresses,
  type SecretMask,
  templateFault,
  UPLOADED_FILE,
  type UploadedDocument,
};

/** A list of several pages over HTTP. */
const pagesSource: SourceKind<PagesConfig> = {
  isRemote: false,
  isRepeatable: true,
  isPaged: true,
  // Decoding pages takes libraries that commands without pulls do not need.
  open: async (config, context) =>
    config.paging.by === 'sitemap'
      ? (await import('./pages/open-sitemap.ts')).openSitemap(config, context)
      : (await import('./pages/open-pages.ts')).openPages(config, context),
  ...pagesDescriptions,
};

/** An object, or the objects of a folder, in S3-compatible storage. */
const s3Source: SourceKind<S3Config> = {
  isRemote: true,
  isRepeatable: true,
  // The library that reads lists is loaded only for a pull.
  open: async (config, context) => (await import('./folder/open-s3.ts')).openS3(config, context),
  request: ({ kind, bucket, key, pick, access: { accessKeyId, region, endpoint } }) => ({
    kind,
    bucket,
    key,
    pick,
    accessKeyId,
    region,
    endpoint,
  }),
  placeOf: s3Place,
  secretsOf: ({ access: { secretAccessKey, sessionToken } }) =>
    [secretAccessKey, sessionToken].flatMap((secret) => (secret === undefined ? [] : [secret.reveal()])),
  publicConfig({ access: { accessKeyId, region, endpoint }, pick, ...config }) {
    const place = `${endpoint ?? ''} ${s3Place({ ...config, pick })}`;
    return { place, settings: { accessKeyId, region, pick: pick?.pick } };
  },
};

/** A file, or the files of a folder, on an SFTP server. */
const sftpSource: SourceKind<SftpConfig> = {
  isRemote: true,
  isRepeatable: true,
  // The library is loaded only for a pull.
  open: async (config, context) => (await import('./folder/open-sftp.ts')).openSftp(config, context),
  request: ({ kind, host, port, path, pick, login: { user } }) => ({ kind, host, port, path, pick, user }),
  placeOf: sftpPlace,
  secretsOf: ({ login: { password, passphrase } }) =>
    [password, passphrase].flatMap((secret) => (secret === undefined ? [] : [secret.reveal()])),
  publicConfig({ login: { user, hostKeys }, pick, ...config }) {
    return { place: sftpPlace({ ...config, pick }), settings: { user, hostKeys, pick: pick?.pick } };
  },
};

/** Where a feed comes from: the kind of source, and what that kind needs. */
export type SourceConfig = SingleConfig | SeveralConfig<SingleConfig>;

export type SingleConfig =
  | HttpConfig
  | PagesConfig
  | FileConfig
  | FilesConfig
  | S3Config
  | SftpConfig
  | StdinConfig
  | UploadConfig;

const KINDS: { readonly [Kind in SourceConfig['kind']]: SourceKind<Extract<SourceConfig, { kind: Kind }>> } = {
  http: httpSource,
  pages: pagesSource,
  file: fileSource,
  files: filesSource,
  s3: s3Source,
  sftp: sftpSource,
  stdin: stdinSource,
  upload: uploadSource,
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
): Promise<DetailFetcher> => (await import('./pages/fetch-detail.ts')).detailFetcher(http, config, context);

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
