// The page of a record that could not become a posting shows what it holds, and nothing in it changes how the page reads.
import { expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
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

it('what a pull names as commands is on pages as well, to which it leads', async () => {
  const { mirror } = stage;
  const bad = posting('bad', { state: 'Jalisco' });
  await mirror.syncOf([...postings(8), bad]);
  expect((await runProgram(mirror, 'review', 'discard', 'acme', '--kind', 'rejected', '--yes')).status).toBe(0);
  const { pull } = await mirror.syncOf([bad]);
  const linksOf = async (path: string) => {
    const { text } = await rawRequest(served.url, { path });
    return [...text.matchAll(/<a href="([^"]*)">([^<]*)</g)].map(([, to = '', words]) => [
      to.replaceAll('&amp;', '&'),
      words,
    ]);
  };
  const [discarded] = (await linksOf(`/pulls/${pull}`)).filter(([, words]) => words === 'See them here');
  expect(discarded).toEqual(['/review/entries?feed=acme&discarded=true', 'See them here']);
  expect((await rawRequest(served.url, { path: String(discarded?.[0]) })).text).toContain('key=bad');
});
