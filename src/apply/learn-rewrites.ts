// Learns from accepted creates how a site rewrites values; stores only new knowledge.
import {
  type LearntRewrites,
  MANY_OBSERVATIONS,
  type Observation,
  observe,
  type RewriteKind,
} from '../plan/observe-values.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteJob, withRevealedFields } from '../site/exchange.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { learntRewrites, noteRewrites } from '../store/site/kept-values.ts';

/** Kinds of rewrite counted per process; a site that rewrites differently each time is not learnt beyond this. */
const MOST_COUNTED = 2_000;

export interface RewriteLearner {
  /** Learns from a job that is certainly the one that was sent. Rejects only if the database is unreachable. */
  learn(sent: Fields, shown: Pick<SiteJob, 'fields' | 'revealFields' | 'types'>): Promise<void>;
  /** Whether the site has shown this field of any job with another value than was sent, other than in its white space. */
  isRewritten(field: string): Promise<boolean>;
}

const WHITE_SPACE: ReadonlySet<RewriteKind> = new Set(['exact', 'line_ends', 'trimmed', 'white_space']);

export function rewriteLearner(db: Queryable, site: SiteName): RewriteLearner {
  let known: Promise<Map<string, number>> | undefined;
  const counts = new Map<string, number>();
  const read = (): Promise<Map<string, number>> => {
    known ??= learntRewrites(db, site).then(countsOf);
    return known.catch((error) => {
      known = undefined;
      throw error;
    });
  };
  return {
    async isRewritten(field) {
      const own = `${field.replaceAll('_', '-')} `;
      const kinds = [...(await read()).keys()].filter((name) => name.startsWith(own));
      return kinds.some((name) => !WHITE_SPACE.has(name.slice(own.length).split(' ')[0] as RewriteKind));
    },
    async learn(sent, shown) {
      const before = await read();
      const news = observe(sent, withRevealedFields(shown).fields, shown.fields, shown.types).flatMap((observation) => {
        const name = nameOf(observation.field, observation);
        const seen = (counts.get(name) ?? 0) + 1;
        if (seen > MANY_OBSERVATIONS || (seen === 1 && counts.size >= MOST_COUNTED)) return [];
        counts.set(name, seen);
        // Stored only at powers of two, so a whole import costs about five statements.
        return (seen & (seen - 1)) === 0 && seen > (before.get(name) ?? 0) ? [{ ...observation, seen }] : [];
      });
      for (const one of news) before.set(nameOf(one.field, one), one.seen);
      if (news.length > 0) await noteRewrites(db, site, news);
    },
  };
}

function countsOf(learnt: LearntRewrites): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [field, rewrites] of learnt) {
    for (const rewrite of rewrites) counts.set(nameOf(field, rewrite), rewrite.seen);
  }
  return counts;
}

const nameOf = (field: string, { kind, detail }: Pick<Observation, 'kind' | 'detail'>): string =>
  `${field} ${kind} ${detail}`;
