// The kinds of sources, by name.
import { type FileConfig, fileSource } from './file/file-source.ts';
import { type HttpConfig, httpSource } from './http/http-source.ts';
import type { SourceKind } from './source.ts';
import { type StdinConfig, stdinSource } from './stdin/stdin-source.ts';

/** Where a feed comes from: the kind of source, and what that kind needs. */
export type SourceConfig = HttpConfig | FileConfig | StdinConfig;

const KINDS: { readonly [Kind in SourceConfig['kind']]: SourceKind<Extract<SourceConfig, { kind: Kind }>> } = {
  http: httpSource,
  file: fileSource,
  stdin: stdinSource,
};

export const kindOf = <Config extends SourceConfig>({ kind }: Config): SourceKind<Config> =>
  KINDS[kind] as SourceKind<Config>;
