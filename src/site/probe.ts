// Judges what the answer to one harmless GET proves about the site and the token, and describes it.
import type { ProbeResult, TokenCheck } from './exchange.ts';
import { isHtml, targetOf } from './facts.ts';
import type { Answer, AnswerHead } from './http/transport.ts';
import type { PageAnswer } from './list-page.ts';
import { expandReferences } from './xml/references.ts';
import { readXml } from './xml/xml-tree.ts';

/** What was requested: the list action if one is configured, otherwise the path where jobs are created. */
export interface Probed {
  readonly url: URL;
  readonly isList: boolean;
}

/**
 * Judges the answer. If a list action is configured, only the XML of a collection proves the interface. Without one
 * there may be nothing to read, and anything but an HTML page counts, even a 404: the token was not refused. Less is
 * enough to resume a paused site, because the next request tells: only an HTML page instead of a list prevents it.
 */
export function judgeProbe(answer: PageAnswer, probed: Probed): ProbeResult {
  const { status, trouble } = answer;
  const no = (kind: ProbeResult['kind'], message: string): ProbeResult => ({
    kind,
    message,
    mayResume: false,
    found: false,
  });
  const seen = describe(answer, probed.url);
  if (status === 0) return no('unreachable', `${answer.sent ? 'No answer' : 'Not sent'}: ${trouble}`);
  if (status === 401)
    return no('unauthorized', 'the site does not accept the token (401): the token or the password was changed');
  if (status === 403) return no('forbidden', `${seen}: the user may not read this address`);
  if (status === 429 || status === 503) return no('throttled', `${seen}: the site asks to wait`);
  if (status >= 500) return no('unknown', `${seen}: an error on the site`);
  if (status >= 300 && status < 400) {
    const target = targetOf(answer.header('location'), probed.url) ?? 'nowhere';
    return no('misconfigured', `${seen}: it redirects to ${target}. Redirects are not followed; correct base_url`);
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

/** Judges the answer to the user of the token at `account_path`. */
export function judgeAccount(answer: Answer, url: URL): TokenCheck {
  if (answer.status === 401) return { kind: 'refused', message: `GET ${url.origin}${url.pathname}: 401` };
  const isShown =
    answer.status === 200 && answer.trouble === undefined && !isHtml(answer.body, answer.header('content-type'));
  return { kind: isShown ? 'accepted' : 'unknown', message: describe(answer, url) };
}

/**
 * Judges the answer to a reader with a wrong token: the site treats one that it has begun to refuse in the same way. Of statuses that may also say that nothing is there, or that
 * the site has trouble, nothing follows.
 */
export function judgeStranger(answer: AnswerHead, url: URL): TokenCheck {
  const { status } = answer;
  const seen = status === 0 ? 'no answer' : String(status);
  const message = `GET ${url.origin}${url.pathname} with a wrong token: ${seen}`;
  if (status === 401 || status === 403 || (status >= 300 && status < 400 && status !== 304))
    return { kind: 'needed', message };
  const isAnswered = (status >= 200 && status < 300) || status === 404 || status === 410;
  return { kind: isAnswered ? 'unneeded' : 'unknown', message };
}

const MAX_SEEN = 80;

/** For example: GET https://site/jobs.xml: 200, text/html, the page "Log in". */
function describe(answer: Answer, url: URL): string {
  const type = answer.header('content-type').split(';')[0]?.trim() || 'no content type';
  const parts = [String(answer.status), type, contentOf(answer)].filter((part) => part !== undefined);
  return `GET ${url.origin}${url.pathname}: ${parts.join(', ')}`;
}

function contentOf({ body, header }: Answer): string | undefined {
  if (body.trim() === '') return 'empty';
  if (!isHtml(body, header('content-type'))) {
    const root = readXml(body);
    // Only the beginning of a large body is kept.
    const name = root?.name ?? /^\s*(?:<[?!][^>]*>\s*)*<(?:[\w.-]+:)?([\w.-]+)/.exec(body)?.[1];
    return name === undefined ? undefined : `the element ${name.slice(0, MAX_SEEN)}`;
  }
  const title = expandReferences(/<title[^<>]*>([^<]*)/i.exec(body)?.[1] ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return title === '' ? 'a page without a title' : `the page "${title.slice(0, MAX_SEEN)}"`;
}
