// Turns the answer to one harmless GET into what it proves of the site, and says what was seen.
import type { Probe } from './exchange.ts';
import { isHtml } from './facts.ts';
import type { Answer } from './http/transport.ts';
import type { PageAnswer } from './list/read-page.ts';
import { expandReferences, readXml } from './xml/xml-tree.ts';

/** What was asked for: the list action where one is configured, otherwise the place where jobs are created. */
export interface Probed {
  readonly url: URL;
  readonly isList: boolean;
}

/**
 * Judges the answer. A list action proves the interface by nothing less than the XML of a collection. Without one there
 * may be nothing to read, and whatever is not a page counts, a 404 too: the token was not refused. To go on with a site
 * that was paused less is enough, since the next request tells: only a page in place of a list speaks against that.
 */
export function judgeProbe(answer: PageAnswer, probed: Probed): Probe {
  const { status, trouble } = answer;
  const no = (kind: Probe['kind'], message: string): Probe => ({
    kind,
    message,
    mayResume: false,
    found: false,
  });
  const seen = describe(answer, probed.url);
  if (status === 0) return no('unreachable', `${answer.sent ? 'No answer' : 'Not sent'}: ${trouble}`);
  if (status === 401)
    return no('unauthorized', 'the site does not accept the token (401): it was changed, or the password was');
  if (status === 403) return no('forbidden', `${seen}: the user may not read there`);
  if (status === 429 || status === 503) return no('throttled', `${seen}: the site asks to wait`);
  if (status >= 500) return no('unknown', `${seen}: an error of the site`);
  if (status >= 300 && status < 400) {
    const target = targetOf(answer, probed.url);
    return no('misconfigured', `${seen}: it leads to ${target}. Redirects are not followed; correct base_url`);
  }
  const isPage = isHtml(answer.body, answer.header('content-type'));
  if (!probed.isList) {
    const found = status >= 200 && status < 300 && readXml(answer.body) !== undefined;
    if (!isPage)
      return { kind: 'accepted', message: `${seen}: no more can be proven without list_path`, mayResume: true, found };
    const advice = 'a page proves nothing; check base_url, and name a list action as list_path if the site has one';
    return { kind: 'misconfigured', message: `${seen}: ${advice}`, mayResume: true, found: false };
  }
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && trouble !== undefined) return no('unknown', `${seen}: ${trouble}`);
  if (isSuccess && !isPage && answer.hints !== undefined) {
    return { kind: 'accepted', message: `${seen}: a list of jobs`, mayResume: true, found: true };
  }
  const message = `${seen}: not the XML of a collection of jobs; check base_url and list_path`;
  return { kind: 'misconfigured', message, mayResume: !isPage, found: false };
}

const MAX_SEEN = 80;

/** As "GET https://site/jobs.xml: 200, text/html, the page "Log in"". */
function describe(answer: Answer, url: URL): string {
  const type = answer.header('content-type').split(';')[0]?.trim() || 'no content type';
  const parts = [String(answer.status), type, contentOf(answer)].filter((part) => part !== undefined);
  return `GET ${url.origin}${url.pathname}: ${parts.join(', ')}`;
}

function contentOf({ body, header }: Answer): string | undefined {
  if (body.trim() === '') return 'empty';
  if (!isHtml(body, header('content-type'))) {
    const root = readXml(body);
    // Of a large body only the beginning is kept.
    const name = root?.name ?? /^\s*(?:<[?!][^>]*>\s*)*<(?:[\w.-]+:)?([\w.-]+)/.exec(body)?.[1];
    return name === undefined ? undefined : `the element ${name.slice(0, MAX_SEEN)}`;
  }
  const title = expandReferences(/<title[^<>]*>([^<]*)/i.exec(body)?.[1] ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return title === '' ? 'a page without a title' : `the page "${title.slice(0, MAX_SEEN)}"`;
}

function targetOf(answer: Answer, url: URL): string {
  const location = answer.header('location');
  if (location === '' || !URL.canParse(location, url.href)) return 'nowhere';
  const { origin, pathname } = new URL(location, url.href);
  return `${origin}${pathname}`;
}
