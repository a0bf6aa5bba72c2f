// Connection faults: what a client sees when the network, a load balancer or the site fails below HTTP.
import { setTimeout as delay } from 'node:timers/promises';
import { type FaultStep, fault, gone, sentAlready } from './fault-row.ts';

const reset = ({ incoming: { socket } }: FaultStep): Response => {
  // The server ends its side once the client has ended its own. Node can't reset such a socket, and then never emits "close".
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
  return sentAlready;
};

export const latency = fault('latency', 'waits before the request is processed', { ms: 200 }, async (step, { ms }) => {
  await delay(ms, undefined, { signal: step.closing });
  return step.process();
});

export const refuse = fault(
  'refuse',
  'refuses connections: at once, or after the affected request is answered; ms 0: until switched off',
  { ms: 0 },
  async (step, { ms }) => {
    const answer = await step.process();
    void gone(step.outgoing).then(() => step.refuseConnections(ms));
    return answer;
  },
);

export const resetBefore = fault('reset-before', 'resets the connection; nothing is processed', {}, async (step) =>
  reset(step),
);

export const resetDuring = fault(
  'reset-during',
  'resets the connection once the request is read, and processes it anyway',
  {},
  async (step) => {
    await step.receive();
    const answer = reset(step);
    await step.process();
    return answer;
  },
);

export const resetAfter = fault(
  'reset-after',
  'processes the request and resets the connection instead of answering',
  {},
  async (step) => {
    await step.process();
    return reset(step);
  },
);

export const cut = fault(
  'cut',
  'processes the request and closes the connection in the middle of the answer',
  {},
  async (step) => {
    const answer = await step.process();
    const body = Buffer.from(await answer.arrayBuffer());
    const { outgoing } = step;
    outgoing.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.length || 1 });
    outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
    return sentAlready;
  },
);

export const timeout = fault('timeout', 'never answers; nothing is processed', {}, async (step) => {
  await gone(step.outgoing);
  return sentAlready;
});

export const timeoutMade = fault('timeout-made', 'processes the request and never answers', {}, async (step) => {
  await step.process();
  await gone(step.outgoing);
  return sentAlready;
});

export const timeoutLate = fault(
  'timeout-late',
  'never answers, and processes the request this long after the client gave up',
  { ms: 100 },
  async (step, { ms }) => {
    await step.receive();
    await gone(step.outgoing);
    await delay(ms, undefined, { signal: step.closing });
    await step.process();
    return sentAlready;
  },
);
