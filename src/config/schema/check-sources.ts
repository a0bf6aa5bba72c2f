// Checks that a feed's settings fit its source or sources.

interface SourceSettings {
  readonly source?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly files?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials?: { readonly tls?: unknown } | undefined;
}

interface IssueContext {
  addIssue(issue: { code: 'custom'; message: string; path: string[] }): void;
}

export const isWebAddress = (source: string): boolean => /^https?:\/\//i.test(source);

/** Wildcards stand only in the last part of a path. */
const WILDCARD = /[*?]/;

export function checkSources(settings: SourceSettings, context: IssueContext): void {
  const complain = (message: string, ...path: string[]): void => context.addIssue({ code: 'custom', message, path });
  const { source, sources, files, credentials } = settings;
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
  if (credentials !== undefined) {
    if (web.length === 0) complain('work only with an http or https source', 'credentials');
    else if (credentials.tls !== undefined && !web.every((each) => /^https:/i.test(each))) {
      complain('works only with https', 'credentials', 'tls');
    }
  }
  const origins = new Set(web.filter((each) => URL.canParse(each)).map((each) => new URL(each).origin));
  if (origins.size < 2) return;
  const message = `would be sent to ${[...origins].join(' and ')}; make a feed of each, so that each has its own`;
  if (credentials !== undefined) complain(message, 'credentials');
  if (Object.keys(settings.headers).length > 0) complain(message, 'headers');
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.replace(/[\\/]+$/, '').search(/[^\\/]*$/)));
