// What `review edit` takes its arguments for.
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { postings } from '../support/indeed-feed.ts';
import { runProgram } from './run-program.ts';

it('refuses two numbers of which the first is also the name of a feed: they are two entries, or a posting', async () => {
  const stage = await openStage();
  try {
    await stage.pull(postings(2));
    for (const key of ['p1', 'p2']) await stage.fail(key, 'rejected');
    const ids = [await stage.entry('p1'), await stage.entry('p2')].map(String);
    const edit = () => runProgram(stage.mirror, 'review', 'edit', ...ids, '--set', 'title=Chef', '--no-send');
    const text = await readFile(stage.mirror.configPath, 'utf8');
    await writeFile(stage.mirror.configPath, text.replace('acme:', `"${ids[0]}":`));
    const refused = await edit();
    expect([refused.status, refused.errors]).toEqual([
      1,
      expect.stringContaining(`${ids[0]} may be an entry or the feed of posting ${ids[1]}`),
    ]);
    expect((await stage.change('p1'))?.state).toBe('rejected');
    await writeFile(stage.mirror.configPath, text);
    expect(await edit()).toMatchObject({ status: 0, errors: '' });
    expect((await stage.change('p2'))?.fields).toMatchObject({ title: 'Chef' });
  } finally {
    await stage.close();
  }
});
