// A board for everybody: nobody else's job is taken for ours, none of ours is overlooked, and none of theirs holds a posting back.
import { afterEach, expect, it } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { openPublicBoard, type PublicBoard } from '../support/public-board.ts';

let mirror: Mirror;
let board: PublicBoard;
afterEach(async () => {
  await mirror.close();
  await board[Symbol.asyncDispose]();
});

const TOKEN = 'a-token-of-the-mirror';
const PLACE = { 'location-city': 'Boston', 'location-state': 'Massachusetts' };
const PLUMBER = {
  title: 'Plumber wanted',
  ...PLACE,
  description: 'Pipes and water of all kinds in many houses of the town',
  'contact-web-address': 'https://pipes.example/1',
};

async function open(options: Parameters<typeof openMirror>[0] = {}): Promise<void> {
  board = await openPublicBoard(TOKEN);
  mirror = await openMirror({
    ...options,
    site: {
      base_url: board.url,
      limits: '{ requests_per_second: 5000, concurrency: 2, timeout_seconds: 2 }',
      doubts: '{ resolve_after_seconds: 2.5, list_checks: 1 }',
      reference_field: undefined,
      account_path: '/account.xml',
      ...options.site,
    },
  });
  Object.assign(mirror.env, { BOARD_TOKEN: TOKEN });
}
const show = (id: string, fields: Record<string, string>) => board.jobs.set(id, { id, published: true, fields });
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

it.each([
  ['postal code', '{ zip-code: postalcode }', '<postalcode>02101</postalcode><city>', { 'zip-code': '02101' }],
  ['category', '{ category-id: { value: "17" } }', '<city>', { 'category-id': '17' }],
  [
    'mail address',
    '{ contact-email-address: email }',
    '<email>hr@acme.example</email><city>',
    { 'contact-email-address': 'hr@acme.example' },
  ],
])('the same %s makes nobody’s job ours', { timeout: 200_000 }, async (_name, fields, written, shared) => {
  await open({ feed: { fields } });
  const other = { ...PLUMBER, ...shared };
  show('77', { ...other });
  board.habits.drops = 1;
  await mirror.writeFeed(feedXml([posting('a')]).replace('<city>', written));
  await mirror.sync();
  expect(board.jobs.get('77')?.fields).toEqual(other);
  expect(board.requests.filter((request) => request.startsWith('PUT'))).toEqual([]);
});

it.each([false, true])(
  'a shorter title and an address of the site’s own hide no job; created_at %s',
  { timeout: 200_000 },
  async (timed) => {
    await open();
    board.habits.loses = 1;
    board.habits.rewrites = ({ number: _, description: __, ...fields }, id) => ({
      ...fields,
      title: 'Data Entry Clerk',
      'contact-web-address': `https://board.example/apply/${id}`,
      ...(timed && { 'created-at': new Date().toISOString() }),
    });
    await mirror.writeFeed(feedXml([posting('a', { title: 'Clerk, data-entry (m/w)' })]));
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 1 });
    expect(board.jobs.size).toBe(1);
  },
);

it('a job of the first attempt counts after the create was sent again', { timeout: 200_000 }, async () => {
  await open();
  await mirror.syncOf([posting('z')]);
  board.habits.drops = 1;
  await mirror.writeFeed(feedXml([posting('z'), posting('a')]));
  const { db } = await mirror.app();
  const syncing = mirror.sync();
  await expect
    .poll(() => db.query(`select from change where key = 'a' and state = 'in_doubt'`), { timeout: 60_000 })
    .toHaveLength(1);
  // It was sent an hour ago, was taken for not made, and has been sent again since.
  await db.query(`update change set doubted_since = now() - interval '1 hour' where key = 'a'`);
  show('90', { title: 'Offer 4711', ...PLACE, 'created-at': ago(3_590_000) });
  expect(await syncing).toMatchObject({ created: 0, in_doubt: 1 });
  expect(board.jobs.size).toBe(2);
});

it('older jobs of other employers with the same titles and places hold no posting back', {
  timeout: 200_000,
}, async () => {
  await open({ searched: true });
  const feed = postings(6).map((one) => ({ ...one, title: 'Nurse', city: 'Boston' }));
  for (let at = 0; at < 6; at++)
    show(`other-${at}`, {
      ...PLUMBER,
      title: at % 2 === 0 ? 'Nurse' : 'Nurse (m/f/d)',
      'contact-web-address': `https://pipes.example/${at}`,
      'created-at': ago(86_400_000),
    });
  expect(await mirror.syncOf(feed.slice(0, 4))).toMatchObject({ status: 'mirrored', created: 4, in_doubt: 0 });
  board.habits.drops = 1;
  expect(await mirror.syncOf(feed)).toMatchObject({ created: 2, in_doubt: 0 });
  expect(board.jobs.size).toBe(12);
});
