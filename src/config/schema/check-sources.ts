// Checks that a feed's settings fit its source or sources.
import type { FileChoice } from '../scheme-sources/scheme-source.ts';
import { hasHttp, isWebAddress, SCHEME_SOURCES, SCHEMES, schemeSourceOf } from '../scheme-sources/scheme-sources.ts';

interface SourceSettings {
  readonly source?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly files?: FileChoice;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials?: Readonly<Record<string, unknown>> | undefined;
}

interface IssueContext {
  addIssue(issue: { code: 'custom'; message: string; path: string[] }): void;
}

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
  const faults = new Set(all.map((each) => schemeSourceOf(each)?.faultOf?.(each, files)));
  for (const fault of faults) if (fault !== undefined) complain(fault, sources ? 'sources' : 'source');
  checkCredentials(all, settings, complain);
}

function checkCredentials(
  all: readonly string[],
  { credentials = {}, headers }: SourceSettings,
  complain: (message: string, ...path: string[]) => void,
): void {
  const web = all.filter(isWebAddress);
  if (hasHttp(credentials)) {
    if (web.length === 0)
      complain(`work only with an http or https source, except ${SCHEMES.join(' and ')}`, 'credentials');
    else if (credentials.tls !== undefined && !web.every((each) => /^https:/i.test(each))) {
      complain('works only with https', 'credentials', 'tls');
    }
  }
  for (const { scheme, needs, isHost } of SCHEME_SOURCES) {
    const own = all.filter((each) => schemeSourceOf(each)?.scheme === scheme);
    const has = credentials[scheme] !== undefined;
    if (has && own.length === 0) complain(`works only with ${scheme}`, 'credentials', scheme);
    if (!has && own.length > 0) complain(`is missing; ${needs}`, 'credentials', scheme);
    const hosts = isHost ? serversOf(own) : [];
    if (hosts.length > 1)
      complain(`would be sent to ${hosts.join(' and ')}; make a feed of each`, 'credentials', scheme);
  }
  const servers = serversOf(web);
  const message = `would be sent to ${servers.join(' and ')}; make a feed of each, so that each has its own`;
  if (servers.length > 1 && hasHttp(credentials)) complain(message, 'credentials');
  if (servers.length > 1 && Object.keys(headers).length > 0) complain(message, 'headers');
}

const serversOf = (addresses: readonly string[]): readonly string[] => {
  const urls = addresses.filter((each) => URL.canParse(each)).map((each) => new URL(each));
  return [...new Set(urls.map(({ protocol, host }) => `${protocol}//${host}`))];
};

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.replace(/[\\/]+$/, '').search(/[^\\/]*$/)));
