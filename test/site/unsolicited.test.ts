// Responses without a request, on a kept-alive connection: none is taken for the answer to a request.
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { anyTime, create, openClient, openRawSite } from './scripted-site.ts';

const answer = (id: number, title: string): string => {
  const body = `<job><id>${id}</id><title>${title}</title></job>`;
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 201 Created\r\nLocation: /jobs/${id}\r\nContent-Type: application/xml\r\nContent-Length: ${length}\r\n\r\n${body}`;
};

/** Calls back at the end of each request: in these tests, the end of its document. */
function onRequests(socket: Socket, take: () => void): void {
  let read = '';
  socket.on('data', (chunk) => {
    read += chunk;
    if (!read.endsWith('</job>')) return;
    read = '';
    take();
  });
}

describe('an unsolicited 201', () => {
  it.each([
    // It may cross the request on its way: then only its content shows that it is not the answer.
    ['before the request, about another job', 'connect'],
    ['in one piece with the previous answer', 'same piece'],
    ['after the previous answer was read', 'later'],
  ])('%s is never taken for the answer', async (_name, when) => {
    let made = 0;
    const closed: Promise<unknown>[] = [];
    await using site = await openRawSite((socket) => {
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      if (when === 'connect' && site.connections() === 1) socket.write(answer(99, 'Another one'));
      onRequests(socket, () => {
        made++;
        if (when === 'same piece' && made === 1) socket.write(answer(made, 'Cook') + answer(99, 'Cook'));
        else socket.write(answer(made, 'Cook'));
        if (when === 'later' && made === 1) setImmediate(() => socket.write(answer(99, 'Cook')));
      });
    });
    await using client = openClient(site.url, { concurrency: 1 });
    const ids: (string | undefined)[] = [];
    for (let request = 0; request < 3; request++) {
      if (request === 1 && when === 'later') await closed[0];
      const { outcome } = await client.send(create, anyTime);
      ids.push(outcome.kind === 'created' ? outcome.siteJob.siteJobId : undefined);
    }
    // Later answers are in step again.
    expect(ids).toEqual([when === 'connect' ? undefined : '1', '2', '3']);
    await closed[0];
    expect(site.connections()).toBeGreaterThan(1);
  });
});
