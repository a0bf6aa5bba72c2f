// Several sources as one feed, which is complete only if each of them is.
import { type RateLimiter, rateLimiterFor } from '../../flow/rate-limiter.ts';
import { type Pace, SOURCE_RATE_WINDOW_MS, startPace } from '../decode/pace.ts';
import { BrokenOff, type OpenedSource, type SourceContext, type SourceDocument, type SourceKind } from './source.ts';

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
  const limiter = context.limiter ?? rateLimiterFor(requestsPerSecond);
  for (const [at, member] of members.entries()) {
    const kind = kindOf(member);
    let isStopped = false;
    let documents = 0;
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
        version: undefined,
        signal: pace.signal,
        limiter: beforePace(limiter, pace),
        onRetry: pace.restart,
      });
      for await (const document of pace.watch(documentsOf(opened), () => 0)) {
        documents++;
        const { name, pageOf, chunks } = document;
        yield {
          ...document,
          name: name === kind.placeOf(member) ? place : `${place}, ${name}`,
          chunks: pace.watch(chunks, (chunk) => chunk.length),
          stop: () => {
            isStopped = true;
            pace.stop();
          },
          pageOf: pageOf === undefined ? undefined : `${at} ${pageOf}`,
        };
      }
      // Of a single source, the reading fails.
      if (documents === 0) throw new BrokenOff('the source has no documents');
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof BrokenOff)) throw error;
      if (!isStopped) failures.push(`${place}: ${error.message}`);
    } finally {
      pace.stop();
    }
  }
  if (failures.length > 0) throw new BrokenOff(failures.join('; '));
}

/** The limit on the first byte starts once the rate allows the request. */
const beforePace = (limiter: RateLimiter, pace: Pace): RateLimiter => ({
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
      throw new BrokenOff(opened.message);
    case 'not_modified':
      throw new BrokenOff('it answered "not modified" to an unconditional request');
    default:
      return opened satisfies never;
  }
}
