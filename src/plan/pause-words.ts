// What people are told of a pause that a person has begun: of what it is, by whom, until when and why, and how it is ended; and of a feed
// that an undo has stopped.
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { type Message, messageOf } from './message.ts';

/** What a pause is of; neither: everything. */
export interface PauseSubject {
  readonly site?: SiteName | undefined;
  readonly feed?: FeedName | undefined;
}

/** A pause that is in force. All times are the database's. */
export interface PersonsPause extends PauseSubject {
  readonly id: number;
  readonly since: Date;
  /** When it ends by itself; `undefined`: once a person ends it. */
  readonly until: Date | undefined;
  readonly actor: string;
  readonly reason: string | undefined;
  /** The feeds are not pulled either. */
  readonly stopsPulls: boolean;
}

/** The pauses that keep a feed or a site from being sent, the widest first. */
export const pausesOf = (pauses: readonly PersonsPause[], { site, feed }: PauseSubject): PersonsPause[] =>
  pauses.filter(
    (pause) =>
      (pause.site === undefined && pause.feed === undefined) ||
      (pause.site !== undefined && pause.site === site) ||
      (pause.feed !== undefined && pause.feed === feed),
  );

export const pauseSubjectWords = ({ site, feed }: PauseSubject): string => {
  if (feed !== undefined) return `feed ${feed}`;
  return site === undefined ? 'everything' : `site ${site}`;
};

/** Writes a time for people, as the rest of the program does: in the zone of the machine. */
type WriteTime = (at: Date) => string;

/** Without names and reasons, which not everybody may read. */
export function pauseInBrief(pause: PersonsPause, timeWords: WriteTime): string {
  const until = pause.until === undefined ? '' : ` until ${timeWords(pause.until)}`;
  return `${pauseSubjectWords(pause)} is paused by a person${until}`;
}

/** The pause in full, with who began it and why. */
export function pauseInFull(pause: PersonsPause, timeWords: WriteTime): string {
  const until = pause.until === undefined ? '' : `, until ${timeWords(pause.until)}`;
  const pulls = pause.stopsPulls ? ', with its pulls' : '';
  const reason = pause.reason === undefined ? '' : `: ${pause.reason}`;
  return `${pauseSubjectWords(pause)} is paused by ${pause.actor} since ${timeWords(pause.since)}${until}${pulls}${reason}`;
}

/** Several pauses, each with how it is ended. */
export const tellPauses = (pauses: readonly PersonsPause[], timeWords: WriteTime): Message =>
  messageOf(
    pauses.map((pause) => pauseInFull(pause, timeWords)).join('; '),
    pauses.map(({ site, feed }) => ({ words: 'to go on, run', action: { kind: 'end_pause', site, feed } as const })),
  );

/** Why the feed is not pulled: a pull of it was undone. */
export function tellStopped(
  feed: FeedName,
  { undo, undone }: { readonly undo: number; readonly undone: number | undefined },
): Message {
  const what = undone === undefined ? 'a pull was undone' : `pull ${undone} was undone`;
  return messageOf(`feed ${feed} is not pulled since ${what} (by ${undo}), because its source would bring that back`, [
    { words: 'once the source is right, run', action: { kind: 'resume_feed', feed } },
  ]);
}
