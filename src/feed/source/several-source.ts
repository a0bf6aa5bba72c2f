// Several sources as one feed, which is complete only if each of them is.
import { type RateLimiter, rateLimiterFor } from '../../flow/rate-limiter.ts';
import { type FeedPace, SOURCE_RATE_WINDOW_MS, startPace } from '../decode/pace.ts';
import {
  FeedReadingError,
  idOfDocument,
  type OpenedSource,
  type SourceContext,
  type SourceDocument,
  type SourceKind,
} from './source.ts';

export interface SeveralConfig<Member> {
  readonly kind: 'several';
  readonly members: readonly Member[];
  /** The first two hold for each source that is reached over a network, from its own start. */
  readonly limits: {
    readonly firstByteTimeoutMs: number;
    readonly minBytesPerSecond: number;
    /** Of all web sources together; absent: unlimited. */
    readonly requestsPerSecond?: number;
  };
}

interface Members<Member> {
  readonly kindOf: (member: Member) => SourceKind<Member>;
}

/** Has no version: if one source is unchanged, the others are still to be read, and so is that one with them. */
export function severalSource<Member>({ kindOf }: Members<Member>): SourceKind<SeveralConfig<Member>> {
  return {
    isRemote: false,
    isRepeatable: true,
    isPaged: true,
    open: async (config, context) => ({ kind: 'documents', documents: readMembers(config, context, kindOf) }),
    request: ({ kind, members }) => ({ kind, members: members.map((member) => kindOf(member).request(member)) }),
    placeOf: ({ members }) => members.map((member) => kindOf(member).placeOf(member)).join(', '),
    secretsOf: ({ members }) => [...new Set(members.flatMap((member) => kindOf(member).secretsOf(member)))],
    publicConfig({ members, limits }) {
      const shown = members.map((member) => kindOf(member).publicConfig(member));
      const settings = { members: shown.map((each) => each.settings), limits };
      return { place: JSON.stringify(shown.map(({ place }) => place)), settings };
    },
  };
}

/** Reads on after a source that fails, and breaks off at the end. */
async function* readMembers<Member>(
  { members, limits: { requestsPerSecond = Number.POSITIVE_INFINITY, ...limits } }: SeveralConfig<Member>,
  context: SourceContext,
  kindOf: Members<Member>['kindOf'],
): AsyncGenerator<SourceDocument> {
  const failures: string[] = [];
  const ids = new Map<string, number>();
  const limiter = context.limiter ?? rateLimiterFor(requestsPerSecond);
  for (const [at, member] of members.entries()) {
    const kind = kindOf(member);
    let isStopped = false;
    let documents = 0;
    let own: string | undefined;
    const place = `source ${at + 1} (${kind.placeOf(member)})`;
    const pace = startPace(
      {
        totalTimeoutMs: Number.POSITIVE_INFINITY,
        rateWindowMs: SOURCE_RATE_WINDOW_MS,
        ...(kind.isRemote ? limits : {}),
      },
      context.signal,
    );
    try {
      const opened = await kind.open(member, {
        ...context,
        network: context.network?.ofMember?.(at) ?? context.network,
        version: undefined,
        signal: pace.signal,
        limiter: beforePace(limiter, pace),
        onRetry: pace.restart,
      });
      for await (const document of pace.watch(documentsOf(opened), () => 0)) {
        documents++;
        const { name, address, pageOf, chunks } = document;
        own ??= uniqueId(ids, address ?? kind.placeOf(member));
        const isWhole = address !== undefined || idOfDocument(document) === kind.placeOf(member);
        yield {
          ...document,
          name: name === kind.placeOf(member) ? place : `${place}, ${name}`,
          id: isWhole ? own : `${own}, ${idOfDocument(document)}`,
          chunks: pace.watch(chunks, (chunk) => chunk.length),
          stop: () => {
            isStopped = true;
            pace.stop();
          },
          pageOf: pageOf === undefined ? undefined : `${at} ${pageOf}`,
        };
      }
      // Of a single source, the reading fails.
      if (documents === 0) throw new FeedReadingError('the source has no documents');
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof FeedReadingError)) throw error;
      if (!isStopped) failures.push(`${place}: ${error.message}`);
    } finally {
      pace.stop();
    }
  }
  if (failures.length > 0) throw new FeedReadingError(failures.join('; '));
}

/** Two sources may differ only in what is secret. */
function uniqueId(known: Map<string, number>, id: string): string {
  const count = (known.get(id) ?? 0) + 1;
  known.set(id, count);
  return count === 1 ? id : `${id} (${count})`;
}

/** The limit on the first byte starts once the rate allows the request. */
const beforePace = (limiter: RateLimiter, pace: FeedPace): RateLimiter => ({
  ...limiter,
  async take(signal) {
    pace.restart(Number.POSITIVE_INFINITY);
    await limiter.take(signal);
    pace.restart(0);
  },
});

function documentsOf(opened: OpenedSource): AsyncIterable<SourceDocument> {
  switch (opened.kind) {
    case 'documents':
      return opened.documents;
    case 'failed':
      throw new FeedReadingError(opened.message);
    case 'not_modified':
      throw new FeedReadingError('it answered "not modified" to an unconditional request');
    default:
      return opened satisfies never;
  }
}

// Buffers the first documents of a source in memory, so waiting for them does not hold up anything else.

/** A gathered document takes this much besides its bytes. */
const DOCUMENT_BYTES = 1024;

/** Documents whose beginning, or all of them, is in memory. */
interface GatheredDocuments {
  /**
   * Reads documents until they exceed `limit` together. Resolves to whether those were all. Call it at most once, before
   * `documents`.
   */
  gather(limit: number): Promise<boolean>;
  /** All documents from the first. Can be called repeatedly if everything was gathered, otherwise once. */
  documents(wait: WaitForBytes): AsyncGenerator<SourceDocument>;
  /** Ends the source and frees the memory. */
  close(): void;
}

export function gatherDocuments(source: AsyncIterable<SourceDocument>): GatheredDocuments {
  const iterator = source[Symbol.asyncIterator]();
  const begun: { readonly document: SourceDocument; readonly body: GatheredBody }[] = [];
  let ended = false;
  let broken: FeedReadingError | undefined;

  function begin(document: SourceDocument): GatheredBody {
    const body = gatheredBody(document.chunks);
    begun.push({ document, body });
    return body;
  }

  /** Begins the next document; `undefined` if there is none. */
  async function gatherNext(): Promise<GatheredBody | undefined> {
    try {
      const next = await iterator.next();
      if (!next.done) return begin(next.value);
    } catch (error) {
      if (!(error instanceof FeedReadingError)) throw error;
      broken = error;
    }
    ended = true;
    return undefined;
  }

  async function* rest(wait: WaitForBytes): AsyncGenerator<SourceDocument> {
    for (;;) {
      const next = await wait(iterator.next());
      if (next.done) return;
      const body = begin(next.value);
      yield { ...next.value, chunks: body.chunks(wait) };
      begun.pop();
      await body.close();
    }
  }

  return {
    async gather(limit) {
      let room = limit;
      let always = ALWAYS_GATHERED;
      for (let body = await gatherNext(); body !== undefined; body = await gatherNext()) {
        const totalBytes = begun.at(-1)?.document.totalBytes ?? 0;
        if (room < 0 || totalBytes > room || !(await body.gather(room, always))) return false;
        room -= body.bytes + DOCUMENT_BYTES;
        always = Math.max(0, always - body.bytes);
      }
      return true;
    },
    async *documents(wait) {
      try {
        for (const { document, body } of begun) {
          yield { ...document, chunks: body.chunks(wait) };
          if (!ended) await body.close();
        }
        if (broken !== undefined) throw broken;
        if (!ended) yield* rest(wait);
      } finally {
        // Not awaited: a source that hangs would not complete this either.
        if (!ended) iterator.return?.().catch(() => undefined);
      }
    },
    close() {
      for (const { body } of begun) void body.close();
      iterator.return?.().catch(() => undefined);
    },
  };
}

// Buffers the first bytes of one document in memory.

/** Limit for the gathered bytes of all sources together, and what each source may always gather (law 8). */
const MAX_GATHERED = 32 * 1024 * 1024;
const ALWAYS_GATHERED = 64 * 1024;
let gatheredBytes = 0;

/** Waits for the source's next bytes. It may free a slot meanwhile. */
export type WaitForBytes = <T>(next: Promise<T>) => Promise<T>;

/** A stream whose beginning, or all of it, is in memory. */
interface GatheredBody {
  /** The gathered bytes. */
  readonly bytes: number;
  /**
   * Reads until there are more than `limit` bytes, or than `always` while all sources together have reached theirs.
   * Resolves to whether the stream ended.
   */
  gather(limit: number, always: number): Promise<boolean>;
  /** All bytes from the first. Can be called repeatedly if everything was gathered, otherwise once. */
  chunks(wait: WaitForBytes): AsyncGenerator<Buffer>;
  /** Frees the memory and ends the stream; resolves when a read that is under way has returned. */
  close(): Promise<void>;
}

/** @param source each of its chunks is valid until the next one is requested. */
function gatheredBody(source: AsyncIterable<Buffer>): GatheredBody {
  const iterator = source[Symbol.asyncIterator]();
  let gathered: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  let broken: FeedReadingError | undefined;

  function free(): void {
    gatheredBytes -= bytes;
    bytes = 0;
    gathered = [];
  }

  async function* rest(wait: WaitForBytes): AsyncGenerator<Buffer> {
    free();
    for (;;) {
      const next = await wait(iterator.next());
      if (next.done) return;
      yield next.value;
    }
  }

  return {
    get bytes() {
      return bytes;
    },
    async gather(limit, always) {
      while (!ended && bytes <= limit && (gatheredBytes <= MAX_GATHERED || bytes <= always)) {
        try {
          const next = await iterator.next();
          if (next.done) ended = true;
          else {
            gathered.push(Buffer.from(next.value));
            bytes += next.value.length;
            gatheredBytes += next.value.length;
          }
        } catch (error) {
          if (!(error instanceof FeedReadingError)) throw error;
          ended = true;
          broken = error;
        }
      }
      return ended;
    },
    async *chunks(wait) {
      try {
        yield* gathered;
        if (broken !== undefined) throw broken;
        if (!ended) yield* rest(wait);
      } finally {
        // Not awaited: a source that hangs would not complete this either.
        if (!ended) iterator.return?.().catch(() => undefined);
      }
    },
    async close() {
      free();
      await iterator.return?.().catch(() => undefined);
    },
  };
}
