// Brings an installation into states that need a person, step by step and without a worker: pulled, claimed, recorded.
import { pullFeed } from '../../jobs/pull-feed.ts';
import { say } from '../../src/cli/adapter/write-action.ts';
import type { DeleteGuard } from '../../src/plan/delete-guard.ts';
import type { Message } from '../../src/plan/message.ts';
import { type FeedName, feedName, type PostingKey, postingKey, siteJobId } from '../../src/posting/identifiers.ts';
import type { App } from '../../src/runtime/app.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { ENTRY_KINDS } from '../../src/store/backlog/open-counts.ts';
import type { Attempt, AttemptNotAccepted } from '../../src/store/change/attempt.ts';
import { createClaimer } from '../../src/store/change/claim.ts';
import { findChangeOf, type OpenChangeRow } from '../../src/store/change/open-change.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import type { ReviewEntry } from '../../src/store/review/review-entries.ts';
import { reviewEntries } from '../../src/store/review/review-page.ts';
import { feedXml, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

export const acme: FeedName = feedName('acme');

export interface Stage {
  readonly mirror: Mirror;
  readonly app: App;
  /**
   * Writes the feed and pulls it once, perhaps with another guard; nothing is sent. Returns the pull's number and whether the
   * feed was complete.
   */
  pull(
    feed: readonly TestPosting[] | string,
    guard?: Partial<DeleteGuard>,
  ): Promise<{ readonly pull: number; readonly complete: boolean }>;
  /** Claims a posting's change as a worker does. */
  claim(key: string): Promise<Attempt>;
  /** Records all ready changes as accepted by an imagined site that names its jobs `job-KEY`. */
  acceptAll(): Promise<void>;
  /** Claims a posting's change, and returns it as after an answer of the site. */
  fail(key: string, to: 'rejected' | 'failed' | 'in_doubt', message?: string): Promise<void>;
  change(key: string): Promise<OpenChangeRow | undefined>;
  /** The change of a posting, which must exist. */
  entry(key: string): Promise<number>;
  entries(): Promise<ReviewEntry[]>;
  close(): Promise<void>;
}

export async function openStage(options: MirrorOptions = {}): Promise<Stage> {
  const mirror = await openMirror(options);
  const app = await mirror.app();
  const claims = createClaimer(app.db.prepared, 1, new Map());
  const recordOutcome = outcomeRecorder(app.db.prepared);

  async function claim(key: string): Promise<Attempt> {
    const claimed = await claims({ feed: acme, key: postingKey(key) });
    if (claimed.kind !== 'attempt') throw new Error(`${key} is not ready to be sent`);
    return claimed.attempt;
  }
  const change = (key: string) => findChangeOf(app.db, acme, postingKey(key));

  return {
    mirror,
    app,
    claim,
    change,
    async pull(feed, guard) {
      await mirror.writeFeed(typeof feed === 'string' ? feed : feedXml(feed));
      const [setup] = feedSetups(app.config, ['acme']);
      if (setup === undefined) throw new Error('no feed');
      const changed = { ...setup, guard: { ...setup.guard, ...guard } };
      const end = await pullFeed(changed, { db: app.db, log: app.log, signal: new AbortController().signal });
      if (end.kind !== 'committed') throw new Error(`the pull ended ${end.kind}`);
      return end;
    },
    async acceptAll() {
      const ready = await app.db.query<{ key: PostingKey }>(`select key from change where state = 'ready' order by id`);
      // At once, as a worker does: concurrent calls share statements.
      const accept = async (key: PostingKey): Promise<void> => {
        const claimed = await claims({ feed: acme, key });
        if (claimed.kind !== 'attempt') return;
        const { attempt } = claimed;
        const kind = ({ create: 'created', update: 'updated', delete: 'deleted' } as const)[attempt.request.kind];
        const result = kind === 'created' ? { kind, siteJobId: siteJobId(`job-${key}`), url: undefined } : { kind };
        await recordOutcome({ attempt, result, record: undefined });
      };
      await Promise.all(ready.map(({ key }) => accept(key)));
    },
    async fail(key, to, message = `it ${to}`) {
      const attempt = await claim(key);
      const back: AttemptNotAccepted = { to, reason: { kind: to, message, problems: [{ field: 'title', message }] } };
      const record = {
        outcome: to,
        status: 422,
        durationMs: 3,
        request: { method: 'POST', url: 'https://jobs.example.com/jobs.xml', body: '<job/>' },
        response: { status: 422, body: `<errors><error>${message}</error></errors>` },
      };
      await recordOutcome({ attempt, result: { kind: 'returned', back }, record });
    },
    async entry(key) {
      const found = await change(key);
      if (found === undefined) throw new Error(`there is no change of ${key}`);
      return found.id;
    },
    async entries() {
      const found: ReviewEntry[] = [];
      const filter = { feed: undefined, kinds: ENTRY_KINDS };
      for await (const entry of reviewEntries(app.db, filter, undefined)) found.push(entry);
      return found;
    },
    close: () => mirror.close(),
  };
}

export const acting = { actor: 'tester' };

/** A message as the command line shows it, without the program's name. */
export const said = (message: Message): string => say(message, (words) => words.join(' '));
