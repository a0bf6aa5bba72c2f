// The clock of the database was ahead, and has been set back: what was to wait a little does not wait until that time comes.
import { afterEach, expect, it } from 'vitest';
import { assessRunning } from '../../src/runtime/read-health.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const feed = (title: string) => mirror.writeFeed(feedXml([posting('p1', { title })]));
const AHEAD = `now() + interval '400 days'`;

async function open(): Promise<void> {
  mirror = await openMirror();
  await feed('Nurse');
  expect(await mirror.sync()).toMatchObject({ created: 1 });
}

it('a site that asked to wait gets requests again', async () => {
  await open();
  await mirror.stopEngine();
  await mirror.query(`update site_state set not_before = ${AHEAD}`);
  await feed('Night nurse');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: 1 });
});

it('a change that is to be sent again is sent', async () => {
  await open();
  await mirror.sandbox.setFaults([{ name: '500', on: ['update'], count: 1 }]);
  await feed('Night nurse');
  await mirror.query(`create function put_off() returns trigger language plpgsql as $$
    begin new.not_before := ${AHEAD}; return new; end $$`);
  await mirror.query(`create trigger put_off before update on change for each row
    when (new.state = 'ready' and new.not_before > now()) execute function put_off()`);
  expect(await mirror.sync()).toMatchObject({ updated: 0, pending: 1 });
  await mirror.query('drop trigger put_off on change');
  expect((await assessRunning(await mirror.app(), [], 1, undefined)).failing).toEqual([]);
  await mirror.stopEngine();
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: 1 });
});
