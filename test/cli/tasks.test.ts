// The commands of docs/cookbook.md for the tasks of a day work one after the other, as the page has them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

const page = readFileSync(join(packageRoot, 'docs', 'cookbook.md'), 'utf8');
const [, block = ''] = /^```sh tasks\n([\s\S]*?)^```/m.exec(page) ?? [];
const tasks = block.trim().split('\n');

it('each task of the cookbook does what it says', async () => {
  const mirror = await openMirror();
  try {
    const all = [1, 2, 3].map((n) => posting(`nurse-${n}`));
    for (const feed of [all, all.slice(0, 2)]) {
      await mirror.writeFeed(feedXml(feed));
      await mirror.sync();
      await mirror.stopEngine();
    }
    const said = new Map<string, string>();
    for (const task of tasks) {
      const [, words = ''] = /^jobmirror (.*?) *(?:#.*)?$/.exec(task) ?? [];
      const args = words.split(' ').map((word) => (/\.(html|backup)$/.test(word) ? join(mirror.folder, word) : word));
      const { status, out, errors } = await runProgram(mirror, ...args);
      expect({ task, status, errors }).toMatchObject({ task, status: 0 });
      said.set(args[0] === 'feeds' ? `${args[0]} ${args[1]}` : (args[0] ?? ''), out);
    }
    expect([...said.keys()]).toEqual([
      ...['pause', 'resume', 'changes', 'why', 'undo', 'feeds resume', 'activity', 'report', 'feeds rekey', 'backup'],
    ]);
    expect(said.get('changes')).toMatch(/delete +acme +nurse-3 +Nurse nurse-3 .*gone from pull 2/);
    expect(said.get('why')).toContain('It is on site board');
    expect(said.get('undo')).toContain('1 created');
    expect(said.get('activity')).toContain('undo pull');
    for (const file of ['acme.html', 'before.backup']) expect(existsSync(join(mirror.folder, file))).toBe(true);
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(all.map(({ key }) => key));
  } finally {
    await mirror.close();
  }
});
