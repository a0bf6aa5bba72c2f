// The password, and with it the token, changes during a run: nothing is lost, and a process with the new token continues.
import { expect } from 'vitest';
import { chosen } from '../support/extent.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';

it.for(chosen(QUEUES, ({ queue }) => queue === 'redis'))(
  'a token that becomes invalid during a run pauses the site, and the new token resumes it, with the queue in $queue $note',
  { timeout: 900_000 },
  async ({ queue, available }, { open, skip }) => {
    if (!available) skip();
    const installation = await open({ queue, site: patientSite(20) });
    const { sandbox, owner } = installation;
    const feed = postings(60);
    await sandbox.setFaults([{ name: 'latency', ms: 200 }]);
    await installation.writeFeed(feedXml(feed));
    let left = 8;
    const reached = sandbox.requests.next(() => --left === 0);
    const syncing = installation.sync();
    await reached;
    const { token } = await sandbox.changePassword(owner, 'another password of the mirror');
    const report = await syncing;
    expect(report).toMatchObject({ status: 'pending', failed: 0, rejected: 0, in_doubt: 0 });
    expect(report.created + report.pending).toBe(feed.length);
    const refused = sandbox.requests.recent().filter(({ status }) => status === 401);
    // The requests in flight, and each worker's next one, may have been sent before the pause was known.
    expect(refused.length).toBeLessThanOrEqual(8);
    await installation.stopEngine();

    // With the old token it would keep probing: the pause belongs to the token.
    Object.assign(installation.env, { BOARD_TOKEN: token });
    expect(await installation.sync()).toMatchObject({ status: 'mirrored', pending: 0 });
    await checkLaws(installation, feed);
  },
);
