// The kinds of sources whose addresses have a scheme of their own. Web addresses, files and standard input are no such kinds.
import { s3Scheme } from './s3.ts';
import type { SchemeSource } from './scheme-source.ts';
import { sftpScheme } from './sftp.ts';

export const SCHEME_SOURCES: readonly SchemeSource[] = [sftpScheme, s3Scheme];

/** Their schemes, for messages. */
export const SCHEMES: readonly string[] = SCHEME_SOURCES.map(({ scheme }) => scheme);

/** Whether there are credentials for web addresses. */
export const hasHttp = (credentials: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(credentials).some(([name, value]) => !SCHEMES.includes(name) && value !== undefined);

export const isWebAddress = (source: string): boolean => /^https?:\/\//i.test(source);

/** The kind of the address; `undefined` if its scheme is that of no kind, or if it has none. */
export function schemeSourceOf(address: string): SchemeSource | undefined {
  const scheme = /^([^:/]+):\/\//.exec(address)?.[1]?.toLowerCase();
  return SCHEME_SOURCES.find((source) => source.scheme === scheme);
}
