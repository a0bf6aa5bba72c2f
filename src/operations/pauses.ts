// Stop: a person pauses everything, a site or a feed, and goes on. What the program itself has paused is resumed elsewhere: see `sites.ts`.
import { z } from 'zod';
import { namedFeeds } from '../config/config.ts';
import { type Message, messageOf, noticeOf, type WriteAction } from '../plan/message.ts';
import {
  type PauseSubject,
  type PersonsPause,
  pauseSubjectWords,
  pausesOf,
  tellPauses,
  tellStopped,
} from '../plan/pause-words.ts';
import { didYouMean } from '../posting/id-and-name.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { App } from '../runtime/app.ts';
import { auditAction } from '../store/access/audit.ts';
import { knownFeeds } from '../store/change/act-in-review.ts';
import { databaseTime } from '../store/change/site-search.ts';
import { readFeedState, stoppedFeeds } from '../store/feed/feed-state.ts';
import { countInFlight, endPauseOf, listPauses, pauseSubject } from '../store/locks/pauses.ts';
import { readSiteState } from '../store/site/site-state.ts';
import { formatTime } from '../telemetry/times.ts';
import { namedFeed, namedSite, OperationRefused, operation } from './operation.ts';
import {
  answerOf,
  count,
  endOf,
  endText,
  feedNameOutput,
  feedNameText,
  idNumber,
  nameText,
  noticeOutput,
  siteNameOutput,
  TIME_ZONE_RULE,
  text,
  time,
} from './scalars.ts';
import { resumeSiteAnywhere } from './sites.ts';

/** A pause that a person has begun, in answers. */
export const pauseOutput = z
  .strictObject({
    id: count.describe('Its number.'),
    site: siteNameOutput.nullable().describe('The site that is paused.'),
    feed: feedNameOutput.nullable().describe('The feed that is paused; neither: everything.'),
    since: time.describe('Since when.'),
    until: time.nullable().describe('When it ends by itself; `null`: once a person ends it.'),
    by: z.string().describe('Who began it.'),
    reason: z.string().nullable().describe('Why.'),
    pulls: z.boolean().describe('The source is not read either.'),
    message: noticeOutput.describe('All of that in words, and how it is ended.'),
  })
  .meta({ title: 'Pause' });

export type ShownPause = z.output<typeof pauseOutput>;

export const shownPause = (pause: PersonsPause, write: WriteAction): ShownPause =>
  answerOf(pauseOutput, pause, {
    by: pause.actor,
    pulls: pause.stopsPulls,
    message: noticeOf(write, tellPauses([pause], formatTime)),
  });

const SUBJECT = {
  feed: feedNameText.optional().describe('The feed that this is about.'),
  site: nameText.optional().describe('The site that this is about, with all its feeds.'),
  all: z.boolean().optional().describe('All feeds of all sites.'),
};

const WAY = {
  reason: text(1_000).optional().describe('Why, for those who see it.'),
  until: endText
    .optional()
    .describe(
      `When it ends by itself: a duration from now on (\`30min\`, \`2h\`, \`3d\`) or a time (\`2026-12-24 18:00\`). ${TIME_ZONE_RULE}`,
    ),
  pulls: z
    .boolean()
    .optional()
    .describe('Do not read the sources either. Otherwise pulls go on, and what they find waits to be sent.'),
};

const pausedOutput = z
  .strictObject({
    pause: pauseOutput,
    changed: z.boolean().describe('It was paused already: its reason, end and extent are the new ones.'),
    in_flight: count.describe('Requests that were sent before; their answers are recorded.'),
  })
  .meta({ title: 'Paused' });

export const pauseSending = operation({
  id: 'pause',
  path: '/pause',
  summary: 'Stop sending for a feed, a site or everything, at once, until a person resumes it or until a time',
  scope: 'review',
  input: z.strictObject({ ...SUBJECT, ...WAY }),
  output: pausedOutput,
  async run({ reason, until: written, pulls = false, ...named }, context) {
    const { app, actor } = context;
    const subject = await subjectOf(app, named);
    const now = await databaseTime(app.db);
    const until = written === undefined ? undefined : endOf(written, now);
    if (until !== undefined && until.getTime() <= now.getTime()) {
      throw new OperationRefused('invalid', `until ${written} is in the past: nothing was paused`);
    }
    const given = reason?.trim();
    const { pause, changed } = await app.db.transaction(async (tx) => {
      const before = (await listPauses(tx)).some((each) => each.site === subject.site && each.feed === subject.feed);
      const begun = await pauseSubject(tx, subject, {
        actor,
        reason: given === '' ? undefined : given,
        until,
        stopsPulls: pulls,
      });
      await auditAction(tx, {
        actor,
        action: 'pause',
        ...(subject.feed === undefined ? {} : { feed: subject.feed }),
        detail: {
          ...detailOf(subject),
          ...(until === undefined ? {} : { until: until.toISOString() }),
          ...(begun.reason === undefined ? {} : { reason: begun.reason }),
          ...(pulls ? { pulls } : {}),
        },
      });
      return { pause: begun, changed: before };
    });
    return { pause: shownPause(pause, app.writeAction), changed, in_flight: await countInFlight(app.db, subject) };
  },
});

/** What still stops what was resumed. */
export const stillOutput = z
  .array(noticeOutput)
  .describe(
    'What still prevents pulling or sending: other pauses, of people or of the program, and undos since which a feed is not pulled.',
  );

const endedOutput = z
  .strictObject({
    ended: pauseOutput.nullable().describe('The pause that was ended; `null`: a person had not paused exactly this.'),
    still: stillOutput,
  })
  .meta({ title: 'PauseEnded' });

export const endPersonsPause = operation({
  id: 'endPause',
  path: '/resume',
  summary: 'End the pause that a person has begun, of a feed, a site or everything; not one of the program',
  scope: 'review',
  input: z.strictObject({
    ...SUBJECT,
    pause: idNumber.optional().describe('The `id` of the pause that was seen: another one is not ended.'),
  }),
  output: endedOutput,
  async run({ pause: seen, ...named }, { app, actor, control }) {
    const subject = await subjectOf(app, named, await listPauses(app.db));
    const ended = await app.db.transaction(async (tx) => {
      const found = await endPauseOf(tx, subject);
      if (seen !== undefined && found?.id !== seen) {
        const now = found === undefined ? 'is not paused any more' : 'was paused anew';
        throw new OperationRefused('conflict', `${pauseSubjectWords(subject)} ${now}; nothing was changed`);
      }
      if (found !== undefined) {
        await auditAction(tx, {
          actor,
          action: 'end pause',
          ...(subject.feed === undefined ? {} : { feed: subject.feed }),
          detail: detailOf(subject),
        });
      }
      return found;
    });
    if (ended !== undefined) control.wake();
    const still = await whatStillStops(app, subject);
    return {
      ended: ended === undefined ? null : shownPause(ended, app.writeAction),
      still: still.map((message) => noticeOf(app.writeAction, message)),
    };
  },
});

const detailOf = ({ site, feed }: PauseSubject) =>
  feed !== undefined ? {} : site === undefined ? { all: true } : { site };

/** What keeps the subject, or a part of it, from being sent or pulled. */
export async function whatStillStops({ db, config }: App, subject: PauseSubject): Promise<Message[]> {
  const pauses = await listPauses(db);
  const isAll = subject.site === undefined && subject.feed === undefined;
  const site = subject.site ?? (subject.feed === undefined ? undefined : await siteOf({ db, config }, subject.feed));
  const left = isAll ? pauses : pausesOf(pauses, { ...subject, site });
  const parts = isAll || subject.site === undefined ? [] : await pausedFeedsOf({ db, config }, subject.site, pauses);
  const sites = isAll ? [...config.sites.keys()] : site === undefined ? [] : [site];
  const program: Message[] = [];
  for (const name of sites) {
    const { pausedSince } = await readSiteState(db, name);
    if (pausedSince === undefined) continue;
    const advice = { words: 'once its cause is gone, run', action: { kind: 'resume_site', site: name } } as const;
    program.push(messageOf(`site ${name} is paused by the program`, [advice]));
  }
  const undone: Message[] = [];
  for (const { feed, ...stopped } of await stoppedFeeds(db)) {
    const isPart = subject.feed === undefined ? (await siteOf({ db, config }, feed)) === site : subject.feed === feed;
    if (isAll || isPart) undone.push(tellStopped(feed, stopped));
  }
  return [...[...left, ...parts].map((pause) => tellPauses([pause], formatTime)), ...program, ...undone];
}

const siteOf = async ({ db, config }: Pick<App, 'db' | 'config'>, feed: FeedName): Promise<SiteName | undefined> =>
  config.feeds.get(feed)?.siteName ?? (await readFeedState(db, feed))?.site;

async function pausedFeedsOf(
  app: Pick<App, 'db' | 'config'>,
  site: SiteName,
  pauses: readonly PersonsPause[],
): Promise<PersonsPause[]> {
  const own: PersonsPause[] = [];
  for (const pause of pauses) {
    if (pause.feed !== undefined && (await siteOf(app, pause.feed)) === site) own.push(pause);
  }
  return own;
}

type Named = { readonly [Member in keyof typeof SUBJECT]?: z.output<(typeof SUBJECT)[Member]> };

/**
 * @param paused what is paused may be resumed although it is in no configuration any more
 * @throws {OperationRefused}
 */
async function subjectOf(
  app: App,
  { feed, site, all = false }: Named,
  paused: readonly PersonsPause[] = [],
): Promise<PauseSubject> {
  const named = [feed !== undefined, site !== undefined, all].filter(Boolean).length;
  if (named !== 1) {
    throw new OperationRefused('invalid', 'name one feed or one site, or say that it is about everything');
  }
  if (feed !== undefined) {
    const known = paused.find((pause) => pause.feed === feed)?.feed;
    return { feed: known ?? (await namedFeed(app, feed)) };
  }
  if (site !== undefined) {
    const known = [...app.config.namedSites, ...paused.map((pause) => pause.site)].find((each) => each === site);
    return { site: known ?? namedSite(app.config, site).name };
  }
  return {};
}

const NAMED = {
  name: feedNameText.optional().describe('Name of the feed or site.'),
  of: z.enum(['feed', 'site']).optional().describe('What the name is of, if a feed and a site have it.'),
  all: z.boolean().optional().describe('All feeds of all sites.'),
};

/** The same by a name that may be that of a feed or of a site, for people at the command line. */
export const pauseNamed = operation({
  id: 'pauseNamed',
  path: '/pause-named',
  summary: 'Stop sending for a feed, a site or everything, at once; requests in flight end and are recorded',
  scope: 'review',
  input: z.strictObject({ ...NAMED, ...WAY }),
  output: pausedOutput,
  async run({ name, of, all, ...way }, context) {
    const found = await whichOf(context.app, { name, of, all });
    if (found.length > 1) throw ambiguous(name ?? '');
    return pauseSending.run({ ...subjectInput(found[0] ?? {}), ...way }, context);
  },
});

/**
 * Ends what a person has paused. Of a site that only the program has paused, or if an option is about that, it resumes as `resume` always
 * did; so each call ends one of the two, that of a person first.
 */
export const resumeNamed = operation({
  id: 'resumeNamed',
  path: '/resume-named',
  summary:
    'Resume sending for a feed, a site or everything that a person has paused, or to a site that the program has paused',
  scope: 'review',
  input: resumeSiteAnywhere.input.omit({ site: true }).extend(NAMED),
  output: z
    .strictObject({
      ...resumeSiteAnywhere.output.partial().shape,
      ...endedOutput.partial().shape,
    })
    .meta({ title: 'ResumedNamed' }),
  async run({ name, of, all, ...options }, context) {
    const { app } = context;
    const pauses = await listPauses(app.db);
    const found = await whichOf(app, { name, of, all }, pauses);
    const isAboutProgram = Object.values(options).some((value) => value !== undefined && value !== false);
    const isPaused = ({ site, feed }: PauseSubject) => pauses.some((each) => each.site === site && each.feed === feed);
    const paused = found.filter(isPaused);
    if (paused.length > 1) throw ambiguous(name ?? '');
    const site = found.find((subject) => subject.site !== undefined)?.site;
    if (site !== undefined && (isAboutProgram || paused.length === 0) && app.config.sites.has(site)) {
      const resumed = await resumeSiteAnywhere.run({ site, ...options }, context);
      const still = await whatStillStops(app, { site });
      return still.length === 0
        ? resumed
        : { ...resumed, still: still.map((message) => noticeOf(app.writeAction, message)) };
    }
    if (isAboutProgram)
      throw new OperationRefused('invalid', `${name ?? 'everything'} is no site: the option is about one`);
    return endPersonsPause.run(subjectInput(paused[0] ?? found[0] ?? {}), context);
  },
});

const subjectInput = ({ feed, site }: PauseSubject): Named =>
  feed !== undefined ? { feed } : site === undefined ? { all: true } : { site };

const ambiguous = (name: string) =>
  new OperationRefused('invalid', `a feed and a site have the name ${name}: say which with --of feed or --of site`);

/** What the name may be of, the site first. @throws {OperationRefused} if nothing has it */
async function whichOf(
  { config, db }: App,
  { name, of, all = false }: { readonly name?: string; readonly of?: 'feed' | 'site'; readonly all?: boolean },
  paused: readonly PersonsPause[] = [],
): Promise<PauseSubject[]> {
  if (all !== (name === undefined)) {
    throw new OperationRefused('invalid', 'name a feed or a site, or say --all');
  }
  if (name === undefined) return [{}];
  const sites = new Set<string>([...config.namedSites, ...paused.flatMap(({ site }) => site ?? [])]);
  const feeds = new Set<string>([
    ...namedFeeds(config),
    ...(await knownFeeds(db)),
    ...paused.flatMap(({ feed }) => feed ?? []),
  ]);
  const found: PauseSubject[] = [
    ...(of !== 'feed' && sites.has(name) ? [{ site: name as SiteName }] : []),
    ...(of !== 'site' && feeds.has(name) ? [{ feed: name as FeedName }] : []),
  ];
  if (found.length > 0) return found;
  const known = [...(of === 'feed' ? [] : sites), ...(of === 'site' ? [] : feeds)];
  const lists = [
    ...(of === 'feed' ? [] : [`sites: ${[...sites].join(', ') || 'none'}`]),
    ...(of === 'site' ? [] : [`feeds: ${[...feeds].join(', ') || 'none'}`]),
  ];
  throw new OperationRefused(
    'unknown',
    `there is no ${of ?? 'site or feed'} ${name}${didYouMean(name, known)} (${lists.join('; ')})`,
  );
}
