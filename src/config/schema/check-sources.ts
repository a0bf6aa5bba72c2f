// Checks that a feed's settings fit its source or sources.

interface SourceSettings {
  readonly source?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly files?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials?: Readonly<Record<string, unknown>> | undefined;
}

interface IssueContext {
  addIssue(issue: { code: 'custom'; message: string; path: string[] }): void;
}

export const isWebAddress = (source: string): boolean => /^https?:\/\//i.test(source);

export const isSftpAddress = (source: string): boolean => /^sftp:\/\//i.test(source);

export const isS3Address = (source: string): boolean => /^s3:\/\//i.test(source);

/** Whether there are credentials for web addresses. */
export const hasHttp = (credentials: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(credentials).some(([name, value]) => name !== 'sftp' && name !== 's3' && value !== undefined);

/** Wildcards stand only in the last part of a path. */
const WILDCARD = /[*?]/;

export function checkSources(settings: SourceSettings, context: IssueContext): void {
  const complain = (message: string, ...path: string[]): void => context.addIssue({ code: 'custom', message, path });
  const { source, sources, files } = settings;
  const all = sources ?? (source === undefined ? [] : [source]);
  const web = all.filter(isWebAddress);
  if (sources?.includes('-')) complain('cannot hold -, standard input; make it the only source', 'sources');
  if (files !== undefined && web.length === all.length) complain('works only with folders and patterns', 'files');
  if (files !== undefined && all.some((each) => !isWebAddress(each) && WILDCARD.test(parentOf(each)))) {
    complain(
      'has a wildcard in the name of a folder; * and ? stand only in the last part',
      sources ? 'sources' : 'source',
    );
  }
  if (files === undefined && all.some((each) => isS3Address(each) && /^s3:\/\/[^/]*(?:\/$|$)|\/$/i.test(each))) {
    complain('names no object; add its key, or set files: newest or files: all', sources ? 'sources' : 'source');
  }
  checkCredentials(all, settings, complain);
}

function checkCredentials(
  all: readonly string[],
  { credentials = {}, headers }: SourceSettings,
  complain: (message: string, ...path: string[]) => void,
): void {
  const web = all.filter(isWebAddress);
  const sftp = all.filter(isSftpAddress);
  if (hasHttp(credentials)) {
    if (web.length === 0) complain('work only with an http or https source, except sftp and s3', 'credentials');
    else if (credentials.tls !== undefined && !web.every((each) => /^https:/i.test(each))) {
      complain('works only with https', 'credentials', 'tls');
    }
  }
  if (credentials.sftp !== undefined && sftp.length === 0) complain('works only with sftp', 'credentials', 'sftp');
  if (credentials.sftp === undefined && sftp.length > 0) {
    complain('is missing; a source over sftp needs user, password or key_file, and host_key', 'credentials', 'sftp');
  }
  const s3 = all.filter(isS3Address);
  if (credentials.s3 !== undefined && s3.length === 0) complain('works only with s3', 'credentials', 's3');
  if (credentials.s3 === undefined && s3.length > 0) {
    complain('is missing; a source in s3 needs access_key_id and secret_access_key', 'credentials', 's3');
  }
  const servers = serversOf(web);
  const message = `would be sent to ${servers.join(' and ')}; make a feed of each, so that each has its own`;
  if (servers.length > 1 && hasHttp(credentials)) complain(message, 'credentials');
  if (servers.length > 1 && Object.keys(headers).length > 0) complain(message, 'headers');
  const sftpServers = serversOf(sftp);
  if (sftpServers.length > 1) {
    complain(`would be sent to ${sftpServers.join(' and ')}; make a feed of each`, 'credentials', 'sftp');
  }
}

const serversOf = (addresses: readonly string[]): readonly string[] => {
  const urls = addresses.filter((each) => URL.canParse(each)).map((each) => new URL(each));
  return [...new Set(urls.map(({ protocol, host }) => `${protocol}//${host}`))];
};

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.replace(/[\\/]+$/, '').search(/[^\\/]*$/)));
