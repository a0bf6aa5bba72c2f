// The commands of docs/cookbook.md for the tasks of a day work one after the other, as the page has them; and its mail arrives.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { openApp } from '../../src/runtime/app.ts';
import { startAlerts } from '../../src/runtime/run-alerts.ts';
import { FAST_ALERTS } from '../support/alerting.ts';
import { posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { withEnv } from '../support/with-env.ts';
import { runProgram } from './run-program.ts';

const page = readFileSync(join(packageRoot, 'docs', 'cookbook.md'), 'utf8');
const [, block = ''] = /^```sh tasks\n([\s\S]*?)^```/m.exec(page) ?? [];
const tasks = block.trim().split('\n');
const [, mailSettings = ''] = /^```yaml mail\n([\s\S]*?)^```/m.exec(page) ?? [];

/** Takes every mail; `mails` has what each says. */
async function startMailServer() {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) =>
      void text(stream).then((mail) => {
        mails.push(mail);
        done();
      }, done),
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const url = `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return { mails, url, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

it('each task of the cookbook does what it says', async () => {
  const opened = await openMirror();
  const mailServer = await startMailServer();
  const mirror = { ...opened, env: { ...opened.env, SMTP_URL: mailServer.url } };
  try {
    const all = [1, 2, 3].map((n) => posting(`nurse-${n}`));
    for (const feed of [all, all.slice(0, 2)]) {
      await mirror.syncOf(feed);
      await mirror.stopEngine();
    }
    await appendFile(mirror.configPath, `${mailSettings}web: { public_url: "https://mirror.example.com" }\n`);
    await writeFile(join(mirror.folder, 'globex.csv'), 'id,title,city,state\nG-1,Cook,Austin,TX\nG-2,Baker,Reno,NV\n');
    const said = new Map<string, string>();
    for (const task of tasks) {
      const [, words = ''] = /^jobmirror (.*?) *(?:#.*)?$/.exec(task) ?? [];
      const args = words.split(' ').map((word) => (/\.(html|backup)$/.test(word) ? join(mirror.folder, word) : word));
      const { status, out, errors } = await runProgram(mirror, ...args);
      expect({ task, status, errors }).toMatchObject({ task, status: 0 });
      said.set(args[0] === 'feeds' || args[0] === 'alerts' ? `${args[0]} ${args[1]}` : (args[0] ?? ''), out);
    }
    expect([...said.keys()]).toEqual([
      ...[
        'pause',
        'resume',
        'changes',
        'why',
        'undo',
        'feeds resume',
        'activity',
        'report',
        'feeds rekey',
        'init',
        'sync',
        'alerts test',
        'backup',
      ],
    ]);
    expect(said.get('changes')).toMatch(/delete +acme +nurse-3 +Nurse nurse-3 .*gone from pull 2/);
    expect(said.get('why')).toContain('It is on site board');
    expect(said.get('undo')).toContain('1 created');
    expect(said.get('activity')).toContain('undo pull');
    for (const file of ['acme.html', 'before.backup']) expect(existsSync(join(mirror.folder, file))).toBe(true);
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['G-1', 'G-2', ...all.map(({ key }) => key)]);
    expect(said.get('sync')).toContain('2 created');
    expect(mailServer.mails).toEqual([expect.stringMatching(/^To: ops@example\.com\r$/m)]);

    // And when something fails, as `start` tells it.
    await mirror.writeFeed('<html>down for maintenance</html>');
    expect((await runProgram(mirror, 'sync', 'acme')).status).toBe(1);
    const app = await withEnv(mirror.env, () => openApp({ config: mirror.configPath, quiet: true }));
    app.log.level = 'silent';
    const alerts = await startAlerts(app, FAST_ALERTS);
    await expect
      .poll(() => mailServer.mails.slice(1))
      .toEqual([expect.stringMatching(/feed acme: its last pull failed[\s\S]*https:\/\/mirror\.example\.com\//)])
      .finally(async () => {
        await alerts.stop(100);
        await app.close();
      });
  } finally {
    await mailServer.close();
    await mirror.close();
  }
});
