// A board for everybody: nobody else's job is taken for ours, none of ours is overlooked, and none of theirs holds a posting back.
import { expect, vi } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import type { MirrorOptions } from '../support/mirror.ts';
import type { PublicBoard } from '../support/public-board.ts';
import { boardTest as it, type OpenAtBoard } from './board-test.ts';

const PLACE = { 'location-city': 'Boston', 'location-state': 'Massachusetts' };
const PLUMBER = {
  title: 'Plumber wanted',
  ...PLACE,
  description: 'Pipes and water of all kinds in many houses of the town',
  'contact-web-address': 'https://pipes.example/1',
};

const openBoard = (open: OpenAtBoard, options: MirrorOptions = {}) =>
  open({ ...options, site: { reference_field: undefined, account_path: '/account.xml', ...options.site } });
const show = ({ jobs }: PublicBoard, id: string, fields: Record<string, string>) =>
  jobs.set(id, { id, published: true, fields });
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

it.concurrent.for<[string, string, string, Record<string, string>]>([
  ['postal code', '{ zip-code: postalcode }', '<postalcode>02101</postalcode><city>', { 'zip-code': '02101' }],
  ['category', '{ category-id: { value: "17" } }', '<city>', { 'category-id': '17' }],
  [
    'mail address',
    '{ contact-email-address: email }',
    '<email>hr@acme.example</email><city>',
    { 'contact-email-address': 'hr@acme.example' },
  ],
])('the same %s makes nobody’s job ours', { timeout: 200_000 }, async ([, fields, written, shared], { open }) => {
  const { mirror, board } = await openBoard(open, { feed: { fields } });
  const other = { ...PLUMBER, ...shared };
  show(board, '77', { ...other });
  board.habits.drops = 1;
  await mirror.writeFeed(feedXml([posting('a')]).replace('<city>', written));
  await mirror.sync();
  expect(board.jobs.get('77')?.fields).toEqual(other);
  expect(board.requests.filter((request) => request.startsWith('PUT'))).toEqual([]);
});

it.concurrent.for([false, true])(
  'a shorter title and an address of the site’s own hide no job; created_at %s',
  { timeout: 200_000 },
  async (timed, { open }) => {
    const { mirror, board } = await openBoard(open);
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

it.concurrent('a job of the first attempt counts after the create was sent again', { timeout: 200_000 }, async ({
  open,
}) => {
  const { mirror, board } = await openBoard(open);
  await mirror.syncOf([posting('z')]);
  board.habits.drops = 1;
  await mirror.writeFeed(feedXml([posting('z'), posting('a')]));
  const { db } = await mirror.app();
  const syncing = mirror.sync();
  const doubts = () => db.query(`select from change where key = 'a' and state = 'in_doubt'`);
  await vi.waitFor(async () => expect(await doubts()).toHaveLength(1), 60_000);
  // It was sent an hour ago, was taken for not made, and has been sent again since.
  await db.query(`update change set doubted_since = now() - interval '1 hour' where key = 'a'`);
  show(board, '90', { title: 'Offer 4711', ...PLACE, 'created-at': ago(3_590_000) });
  expect(await syncing).toMatchObject({ created: 0, in_doubt: 1 });
  expect(board.jobs.size).toBe(2);
});

it.concurrent('older jobs of other employers with the same titles and places hold no posting back', {
  timeout: 200_000,
}, async ({ open }) => {
  const { mirror, board } = await openBoard(open, { searched: true });
  const feed = postings(6).map((one) => ({ ...one, title: 'Nurse', city: 'Boston' }));
  for (let at = 0; at < 6; at++)
    show(board, `other-${at}`, {
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
