// One change, once: what is sent, what is recorded, and how long recording is retried while the database is away.
import { describe, expect, it } from 'vitest';
import { applyChange } from '../../jobs/apply-change.ts';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { semaphoreFor } from '../../src/flow/semaphore.ts';
import { siteJobId } from '../../src/posting/identifiers.ts';
import type { Outcome } from '../../src/site/exchange.ts';
import type { AttemptOutcome, Recorded } from '../../src/store/change/attempt.ts';
import { attemptOf, exchangeOf, type LogLine, logInto, siteContextWith } from '../apply/site-context.ts';

const CREATED: Outcome = { kind: 'created', siteJob: { siteJobId: siteJobId('7'), fields: {} } };
const FULL = Object.assign(new Error('could not extend file'), { code: '53100' });
const UNTAKEN = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
const LOCKED_OUT = Object.assign(new Error('password authentication failed'), { code: '28P01' });
const BROKEN = Object.assign(new Error('no such column'), { code: '42703' });

interface Course {
  readonly outcomes: AttemptOutcome[];
  readonly lines: LogLine[];
  /** Rejects if the outcome could not be recorded. */
  readonly ended: Promise<void>;
}

/** Applies one change whose request has the given outcome; the database answers first with `troubles`. */
function apply(
  operation: 'create' | 'update' | 'delete',
  outcome: Outcome | Error,
  more: {
    readonly status?: number;
    readonly troubles?: readonly Error[];
    readonly recordedAs?: Recorded;
    /** The process is asked to stop before the answer arrives. */
    readonly stopped?: boolean;
  } = {},
): Course {
  const outcomes: AttemptOutcome[] = [];
  const lines: LogLine[] = [];
  const troubles = [...(more.troubles ?? [])];
  const attempt = attemptOf(operation);
  const stop = new AbortController();
  const siteContext = siteContextWith({
    claim: async () => ({ kind: 'attempt', attempt }),
    client: {
      async send() {
        if (more.stopped) stop.abort();
        if (outcome instanceof Error) throw outcome;
        return exchangeOf(outcome, more.status);
      },
      show: async () => undefined,
      // Proves the address if no other job of ours can be checked.
      probe: async () => ({ kind: 'accepted', message: 'a list', mayResume: true, found: true }),
    } as unknown as SiteContext['client'],
    async writeOutcome(outcome) {
      const trouble = troubles.shift();
      if (trouble !== undefined) throw trouble;
      outcomes.push(outcome);
      return more.recordedAs ?? 'recorded';
    },
    log: logInto(lines),
  });
  const ended = applyChange(attempt, siteContext, stop.signal);
  return { outcomes, lines, ended };
}

describe('applyChange', () => {
  it.each(['nothing', 'not_due'] as const)('sends nothing if the claim gives no attempt: %s', async (kind) => {
    const siteContext = siteContextWith({ claim: async () => ({ kind }) });
    await expect(applyChange(attemptOf('create'), siteContext, new AbortController().signal)).resolves.toBeUndefined();
  });

  it('records the outcome of an accepted create', async () => {
    const { outcomes, lines, ended } = apply('create', CREATED, { status: 201 });
    await ended;
    expect(outcomes).toMatchObject([
      { result: { kind: 'created', siteJobId: '7' }, record: { outcome: 'created', status: 201 } },
    ]);
    expect(lines).toMatchObject([{ level: 30, msg: 'change accepted', siteJobId: '7', durationMs: 1 }]);
  });

  it.each(['create', 'update', 'delete'] as const)(
    'has an outcome for a %s that cannot be encoded',
    async (operation) => {
      const { outcomes, ended } = apply(operation, new Error('no name of an element'));
      await ended;
      const to = operation === 'create' ? 'in_doubt' : 'ready';
      expect(outcomes).toMatchObject([{ result: { kind: 'returned', back: { to } } }]);
      expect(JSON.stringify(outcomes)).toContain('could not be sent: no name of an element');
    },
  );

  it('records no exchange if nothing was sent, and one if the site refused unread', async () => {
    const refused = { kind: 'unreachable', message: 'refused' } as const;
    for (const [status, record] of [
      [undefined, undefined],
      [503, { status: 503 }],
    ] as const) {
      const { outcomes, ended } = apply('create', refused, { status });
      await ended;
      if (record === undefined) expect(outcomes[0]?.record).toBeUndefined();
      else expect(outcomes[0]?.record).toMatchObject(record);
    }
  });

  it('retries recording while the database is away for a moment', async () => {
    const { outcomes, lines, ended } = apply('create', CREATED, { troubles: [FULL, FULL] });
    await ended;
    expect(outcomes).toHaveLength(1);
    const waiting = { level: 40, msg: 'outcome not recorded yet', siteJobId: '7' };
    expect(lines).toMatchObject([waiting, waiting, { msg: 'change accepted' }]);
  });

  it('logs the job ID before it gives up recording', async () => {
    const broken = apply('create', CREATED, { troubles: [BROKEN, BROKEN] });
    await expect(broken.ended).rejects.toThrow('no such column');
    expect(broken.lines.at(-1)).toMatchObject({ level: 50, msg: 'outcome not recorded', siteJobId: '7' });

    const stopped = apply('update', { kind: 'accepted' }, { troubles: [FULL], stopped: true });
    await expect(stopped.ended).rejects.toThrow('could not extend file');
    expect(stopped.lines).toMatchObject([{ level: 50, msg: 'outcome not recorded' }]);
    expect(stopped.lines[0]).not.toHaveProperty('siteJobId');
  });

  it('records an outcome without its exchange if the database refuses the exchange', async () => {
    const { outcomes, ended } = apply('create', CREATED, { status: 201, troubles: [UNTAKEN] });
    await ended;
    expect(outcomes).toMatchObject([{ result: { kind: 'created', siteJobId: '7' }, record: undefined }]);
  });

  it('keeps trying while the password or the database itself is being replaced', async () => {
    const { outcomes, ended } = apply('create', CREATED, { troubles: [LOCKED_OUT, LOCKED_OUT] });
    await ended;
    expect(outcomes).toHaveLength(1);
  });

  it('logs the job ID at the end even if the database does not answer at all', async () => {
    const lines: LogLine[] = [];
    const stop = new AbortController();
    const attempt = attemptOf('create');
    const siteContext = siteContextWith({
      claim: async () => ({ kind: 'attempt', attempt }),
      client: { send: async () => exchangeOf(CREATED, 201) } as unknown as SiteContext['client'],
      writeOutcome() {
        stop.abort();
        return new Promise(() => undefined);
      },
      log: logInto(lines),
    });
    await expect(applyChange(attempt, siteContext, stop.signal)).rejects.toThrow('the process ended');
    expect(lines).toMatchObject([{ level: 50, msg: 'outcome not recorded', siteJobId: '7' }]);
  });

  it.each(['owned_elsewhere', 'superseded'] as const)('logs an error if the outcome was %s', async (recordedAs) => {
    const { lines, ended } = apply('create', CREATED, { recordedAs });
    await ended;
    expect(lines).toMatchObject([{ level: 50, msg: `outcome ${recordedAs}` }]);
  });

  it.each<[Outcome, object]>([
    [{ kind: 'accepted' }, { level: 30, msg: 'change accepted' }],
    [{ kind: 'gone' }, { level: 30, msg: 'site job was gone' }],
    [
      { kind: 'rejected', problems: [{ message: 'no' }] },
      { level: 50, problems: [{ message: 'no' }] },
    ],
    [
      { kind: 'forbidden', problems: [] },
      { level: 50, msg: 'change forbidden' },
    ],
    [
      { kind: 'unknown', message: 'timed out' },
      { level: 40, message: 'timed out' },
    ],
    [
      { kind: 'misconfigured', message: 'redirects' },
      { level: 40, message: 'redirects' },
    ],
  ])('logs the outcome of an update: %o', async (outcome, line) => {
    const { lines, ended } = apply('update', outcome);
    await ended;
    expect(lines.at(-1)).toMatchObject(line);
  });

  it.each<Outcome>([{ kind: 'unauthorized' }, { kind: 'throttled', retryAfterMs: 1_000 }])(
    'stops the site before the change is returned to the backlog: %o',
    async (outcome) => {
      const order: string[] = [];
      const attempt = attemptOf('update');
      const siteContext = siteContextWith(
        {
          claim: async () => ({ kind: 'attempt', attempt }),
          client: { send: async () => exchangeOf(outcome) } as unknown as SiteContext['client'],
          async writeOutcome() {
            order.push('given back');
            return 'recorded';
          },
        },
        () => {
          order.push('stopped');
          return [];
        },
      );
      await applyChange(attempt, siteContext, new AbortController().signal);
      expect(order[0]).toBe('stopped');
      expect(order.at(-1)).toBe('given back');
    },
  );

  it.each<[Outcome, number]>([
    [CREATED, 2],
    [{ kind: 'accepted' }, 2],
    [{ kind: 'rejected', problems: [] }, 1],
    [{ kind: 'unknown', message: 'timed out' }, 1],
    [{ kind: 'unauthorized' }, 1],
    [{ kind: 'misconfigured', message: 'redirects' }, 1],
  ])('sends one request at a time; while %o is recorded, %i were sent', async (outcome, sent) => {
    let sending = 0;
    let finishRecording: (recordedAs: Recorded) => void = () => undefined;
    const recording = new Promise<Recorded>((resolve) => {
      finishRecording = resolve;
    });
    const attempt = attemptOf('update');
    const siteContext = siteContextWith({
      requestSlots: semaphoreFor(1),
      claim: async () => ({ kind: 'attempt', attempt }),
      client: {
        async send() {
          sending++;
          return exchangeOf(outcome);
        },
      } as unknown as SiteContext['client'],
      writeOutcome: () => recording,
    });
    const { signal } = new AbortController();
    const both = [applyChange(attempt, siteContext, signal), applyChange(attempt, siteContext, signal)];
    await new Promise(setImmediate);
    expect(sending).toBe(sent);
    finishRecording('recorded');
    await Promise.all(both);
    expect(sending).toBe(2);
  });

  it('releases its slot if the database is unreachable, and if there is nothing to send', async () => {
    const requestSlots = semaphoreFor(1);
    const { signal } = new AbortController();
    const away = siteContextWith({ requestSlots, claim: () => Promise.reject(FULL) });
    await expect(applyChange(attemptOf('create'), away, signal)).rejects.toThrow('could not extend file');
    await applyChange(attemptOf('create'), siteContextWith({ requestSlots }), signal);
    expect(await Promise.race([requestSlots.take(), new Promise(setImmediate)])).toBeTypeOf('function');
  });

  it('reports that the intent is recorded before it sends, and reports nothing without an intent', async () => {
    const events: string[] = [];
    const onIntent = () => events.push('intent');
    const { signal } = new AbortController();
    const attempt = attemptOf('update');
    const siteContext = siteContextWith({
      claim: async () => ({ kind: 'attempt', attempt }),
      client: {
        async send() {
          events.push('sent');
          return exchangeOf({ kind: 'accepted' });
        },
      } as unknown as SiteContext['client'],
    });
    await applyChange(attempt, siteContext, signal, onIntent);
    expect(events).toEqual(['intent', 'sent']);
    await applyChange(attempt, siteContextWith({ claim: async () => ({ kind: 'nothing' }) }), signal, onIntent);
    await applyChange(attempt, siteContextWith({ claim: async () => ({ kind: 'not_due' }) }), signal, onIntent);
    expect(events).toEqual(['intent', 'sent']);
  });

  it('keeps the number of changes in flight within the limit, however soon the site answers', async () => {
    let sent = 0;
    let finishRecording: (recordedAs: Recorded) => void = () => undefined;
    const recording = new Promise<Recorded>((resolve) => {
      finishRecording = resolve;
    });
    const attempt = attemptOf('update');
    const siteContext = siteContextWith({
      inFlight: semaphoreFor(2),
      requestSlots: semaphoreFor(1),
      claim: async () => ({ kind: 'attempt', attempt }),
      client: {
        async send() {
          sent++;
          return exchangeOf({ kind: 'accepted' });
        },
      } as unknown as SiteContext['client'],
      writeOutcome: () => recording,
    });
    const { signal } = new AbortController();
    const all = [1, 2, 3].map(() => applyChange(attempt, siteContext, signal));
    await new Promise(setImmediate);
    expect(sent).toBe(2);
    finishRecording('recorded');
    await Promise.all(all);
    expect(sent).toBe(3);
  });

  it('starts nothing once the slots are closed, whether it waits for a slot or for the rate limiter', async () => {
    const requestSlots = semaphoreFor(1);
    let comeTurn: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      comeTurn = resolve;
    });
    const siteContext = siteContextWith({
      requestSlots,
      rateLimiter: { take: () => turn, spend: () => undefined },
      claim: () => Promise.reject(new Error('claimed')),
    });
    const { signal } = new AbortController();
    const both = [
      applyChange(attemptOf('create'), siteContext, signal),
      applyChange(attemptOf('create'), siteContext, signal),
    ];
    await new Promise(setImmediate);
    requestSlots.close();
    comeTurn();
    await Promise.all(both);
  });
});
