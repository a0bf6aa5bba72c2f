// The page of a record that could not become a posting shows what it holds, and nothing in it changes how the page reads.
import { expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { rawRequest, serve } from './served.ts';

const stage = openedForAll(() => openStage());
const served = openedForAll(() => serve(stage.mirror, { open: true }));

it('characters that turn text, control terminals or stay invisible are shown as their escapes', async () => {
  const turned = '\u202etxet denrut\u2066 \u009b31m';
  await stage.pull([...postings(1), posting('', { title: turned, description: turned })]);
  const [entry] = await stage.app.db.query<{ readonly id: number }>(
    'select id from record_problem order by id desc limit 1',
  );
  const { status, text } = await rawRequest(served.url, { path: `/review/entry?id=${entry?.id}` });
  expect(status).toBe(200);
  expect(text).toContain('\\u202etxet denrut\\u2066 \\u009b31m');
  expect(text.match(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g)).toBeNull();
});
