// Fixes a rejected group on the pages, as a browser without scripts does, and proves that its postings are on the site.
import { pause } from '../../flow/pause.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import type { SiteClient } from '../../site/exchange.ts';
import type { ReadVersion } from './feed-version.ts';
import { compareSiteJob, readSiteJobs } from './proof.ts';

/** The group of the bundled feed that the site would reject for its state, and the state that a person would type. */
export const REJECTED_STATE_GROUP = {
  title: 'is not a valid U.S. state',
  field: 'location-state',
  value: 'Massachusetts',
  keys: ['SL-0904', 'SL-0906', 'SL-0907'] as string[] as PostingKey[],
} as const;

/** How long sending a few postings may take on a busy machine. */
const SENT_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

/**
 * @param feed where the group's postings are from
 * @returns every difference between the site and the fixed postings
 * @throws Error if a page is not as a person would need it
 */
export async function fixGroup(
  url: string,
  feed: ReadVersion,
  client: SiteClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const page = await addressOfGroup(url, signal);
  const html = await readPage(page, signal);
  const offered = html.match(/Set for all (\d+)/)?.[1];
  if (Number(offered) !== REJECTED_STATE_GROUP.keys.length)
    throw new Error(`${page} offers to edit ${offered ?? 'no'} entries, not ${REJECTED_STATE_GROUP.keys.length}`);
  const body = new URLSearchParams(hiddenFields(decisionForm(html)));
  for (const [name, value] of Object.entries({
    field: REJECTED_STATE_GROUP.field,
    value: REJECTED_STATE_GROUP.value,
    action: 'edit',
  }))
    body.append(name, value);
  const answer = await fetch(`${url}/review/entries`, { method: 'POST', headers: { Origin: url }, body, signal });
  if (!answer.ok) throw new Error(`${page} answered ${answer.status} to the edit`);
  const differences = await untilSent(client, feed, signal);
  if (!(await readPage(page, signal)).includes('No entry waits here')) differences.push(`${page} still has entries`);
  return differences;
}

/** Follows the link to the group on the page of all groups. */
async function addressOfGroup(url: string, signal: AbortSignal): Promise<string> {
  const groups = await readPage(`${url}/review`, signal);
  const [, address] =
    [...groups.matchAll(/<a href="(\/review\/entries\?[^"]+)">([^<]*)<\/a>/g)].find(([, , title = '']) =>
      title.includes(REJECTED_STATE_GROUP.title),
    ) ?? [];
  if (address === undefined) throw new Error(`the page of review groups has none that "${REJECTED_STATE_GROUP.title}"`);
  return url + text(address);
}

async function untilSent(client: SiteClient, feed: ReadVersion, signal: AbortSignal): Promise<string[]> {
  const until = performance.now() + SENT_WITHIN_MS;
  for (;;) {
    const listed = await readSiteJobs(client, signal);
    const differences: string[] = [];
    for (const key of REJECTED_STATE_GROUP.keys) {
      const fields = {
        ...feed.results.get(key)?.posting.fields,
        [REJECTED_STATE_GROUP.field]: REJECTED_STATE_GROUP.value,
      };
      differences.push(...(await compareSiteJob(client, { key, fields }, listed, signal)));
    }
    if (differences.length === 0 || performance.now() > until) return differences;
    await pause(LOOK_EVERY_MS, signal);
  }
}

async function readPage(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.text();
}

/** The form of decisions, beside those of notes and rules. */
const decisionForm = (html: string): string => /<form[^>]* id="decide".*?<\/form>/s.exec(html)?.[0] ?? '';

const hiddenFields = (html: string): [string, string][] =>
  [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
    text(name),
    text(value),
  ]);

/** The text of an attribute on our own pages. */
const text = (escaped: string): string =>
  escaped.replace(
    /&(amp|quot|lt|gt|#39);/g,
    (_, name: string) => ({ amp: '&', quot: '"', lt: '<', gt: '>' })[name] ?? "'",
  );
