// Reads what the page of a posting shows, and cuts it to what a page has room for.
import { type FieldDifference, fieldDifferences, unknownPosting, whyNotSent } from '../../../operations/postings.ts';
import { createOnlyOf } from '../../../plan/desired-change.ts';
import { type Message, textOf } from '../../../plan/message.ts';
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import type { Fields, Problem } from '../../../posting/posting.ts';
import { type FoundPosting, findPosting } from '../../../review/describe-history.ts';
import { actionsOfChange } from '../../../review/entry-facts.ts';
import { readConfiguredHere } from '../../../review/health/configured-policy.ts';
import { type EditBase, editableIn } from '../../../review/plan-edit.ts';
import { tokenOfPosting } from '../../../review/seen.ts';
import type { App } from '../../../runtime/app.ts';
import type { Queryable } from '../../../store/postgres/database.ts';
import type { RecordEntry } from '../../../store/review/review-entries.ts';
import { groupOfEntry, type Neighbours, neighboursOf } from '../../../store/review/review-page.ts';
import { statesOf } from '../review/entries.tsx';

/** Requests and actions in the history. */
const NEWEST = 50;
/** Of the texts on a page, as HTML has them. */
const ROOM_BYTES = 110_000;
const LONGEST = { shown: 1_000, edited: 10_000, exchanged: 6_000, detail: 2_000 } as const;

/** The pull that was started; `later`: one follows the pull that runs. */
export type SyncStart = number | 'later';

/** A field that can be edited here. */
export interface EditableField {
  readonly name: string;
  /** What the posting has; empty if it has no such field. */
  readonly value: string;
  /** What the form shows: what was typed, otherwise what the posting has. */
  readonly typed: string;
  readonly errors: readonly string[];
}

export interface ShownField {
  readonly name: string;
  readonly desired: TextBeginning | undefined;
  readonly site: TextBeginning | undefined;
  readonly differs: boolean;
  readonly problems: readonly Problem[];
}

export interface ShownExchange {
  readonly at: Date;
  readonly operation: string;
  readonly kind: string;
  readonly request: { readonly line: string; readonly body: TextBeginning } | undefined;
  readonly response: { readonly line: string; readonly body: TextBeginning } | undefined;
}

/** The editor: absent if the posting can't be edited now. */
export interface Editor {
  readonly fields: readonly EditableField[];
  /** Too long to be edited in a browser. */
  readonly tooLong: readonly string[];
  /** Problems of no field that the form has. */
  readonly problems: readonly string[];
  /** The states that the site accepts, by the name of their field. */
  readonly states: ReadonlyMap<string, readonly string[]>;
}

export interface PostingView extends FoundPosting {
  readonly version: string | undefined;
  /** Why its change is not sent now. */
  readonly waitsFor: readonly Message[];
  /** Whether its feed is in the configuration. */
  readonly isConfigured: boolean;
  /** A person may start its days on the site anew. */
  readonly isRenewable: boolean;
  readonly actions: ReturnType<typeof actionsOfChange>;
  readonly fields: readonly ShownField[];
  readonly hasSiteFields: boolean;
  readonly editor: Editor | undefined;
  /** Why it can't be edited now. */
  readonly notEditable: string | undefined;
  readonly exchanges: readonly ShownExchange[];
  readonly detail: { readonly at: Date; readonly text: TextBeginning } | undefined;
  /** The beginning of its record, if it was kept. */
  readonly record: TextBeginning | undefined;
  /** The value in it that was rejected. */
  readonly marked: string | undefined;
  readonly group: string | undefined;
  readonly neighbours: Neighbours | undefined;
}

/** What a person has sent with the form that was refused. */
export interface RefusedEdit {
  readonly typed?: ReadonlyMap<string, string>;
  readonly problems?: readonly Problem[];
}

export interface PostingAddress {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly group: string | undefined;
}

/** @throws {OperationRefused} if nothing is recorded under the key */
export async function readPosting(app: App, at: PostingAddress, sent: RefusedEdit = {}): Promise<PostingView> {
  const { feed, key } = at;
  const found = await findPosting(app.db, feed, key, NEWEST);
  if (found === undefined) throw unknownPosting(feed, key);
  const { story } = found;
  const { change } = story;
  const room = pageRoom(ROOM_BYTES);
  const createOnly = createOnlyOf(app.config.feeds.get(feed)?.mapping ?? {});
  const problems = change?.reason?.problems ?? [];
  // The editor first: what is not in its form can't be edited here.
  const editable = editableIn(app.config, story);
  const editor =
    editable.kind === 'editable'
      ? { ...editorOf(editable.base, editable.names, room, sent), states: statesOf(app.config, [feed]) }
      : undefined;
  const own = change === undefined ? undefined : await groupOfEntry(app.db, change.id);
  const group = at.group ?? own?.group;
  const place = { key, entry: group === own?.group ? change?.id : undefined, discarded: own?.discarded ?? false };
  return {
    ...found,
    isConfigured: app.config.feeds.has(feed),
    isRenewable:
      app.config.feeds.get(feed)?.expireAfterDays !== undefined &&
      (story.live !== undefined || story.expiry !== undefined),
    version: tokenOfPosting(story),
    waitsFor: await whyNotSent(app, story),
    actions: change === undefined ? [] : actionsOfChange(change, await readConfiguredHere(app.db, app.config)),
    fields: fieldDifferences(change?.fields, story.live?.fields, createOnly).map((field) =>
      shownField(field, problems, room),
    ),
    hasSiteFields: story.live?.fields !== undefined,
    editor,
    notEditable: editable.kind === 'editable' ? undefined : textOf(editable.message),
    exchanges: story.failures.map(({ request, response, ...failure }) => ({
      ...failure,
      request: request === null ? undefined : exchanged(`${request.method} ${request.url}`, request.body, room),
      response:
        response === null
          ? undefined
          : exchanged(
              `${response.status}${response.location === undefined ? '' : `, Location: ${response.location}`}`,
              response.body,
              room,
            ),
    })),
    detail:
      story.detail === undefined
        ? undefined
        : {
            at: story.detail.requestedAt,
            text: room.take(story.detail.document.toString('utf8', 0, 2 * LONGEST.detail), LONGEST.detail),
          },
    record: story.record === undefined ? undefined : room.take(story.record, LONGEST.detail),
    marked: failingValue(problems, change?.fields),
    group,
    neighbours: group === undefined ? undefined : await neighboursOf(app.db, { group, ...place }),
  };
}

/** The site names the field, and perhaps not its value. */
function failingValue(problems: readonly Problem[], fields: Fields | undefined): string | undefined {
  const values = problems.map(({ field, value }) => value ?? (field === undefined ? undefined : fields?.[field]));
  return values.find((value) => value !== undefined && value !== '');
}

const exchanged = (line: string, body: string | undefined, room: Room) => ({
  line: room.take(line, LONGEST.shown).text,
  body: room.take(body ?? '', LONGEST.exchanged),
});

const shownField = (field: FieldDifference, problems: readonly Problem[], room: Room): ShownField => ({
  name: field.field,
  desired: field.desired === null ? undefined : room.take(field.desired, LONGEST.shown),
  site: field.site === null || !field.differs ? undefined : room.take(field.site, LONGEST.shown),
  differs: field.differs,
  problems: problems.filter((problem) => problem.field === field.field),
});

/** As forms send line breaks. */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');

function editorOf(
  base: EditBase,
  editable: ReadonlySet<string>,
  room: Room,
  { typed, problems }: RefusedEdit,
): Omit<Editor, 'states'> {
  const said = problems ?? base.reason?.problems ?? [];
  const wrong = new Set(said.map(({ field }) => field));
  // Those that are wrong first: it is them that a person came for.
  const names = [...editable].sort((one, other) => Number(wrong.has(other)) - Number(wrong.has(one)));
  const fields: EditableField[] = [];
  const tooLong: string[] = [];
  for (const name of names) {
    const value = Object.hasOwn(base.fields, name) ? (base.fields[name] ?? '') : '';
    const whole = room.whole(typed?.get(name) ?? value, LONGEST.edited);
    if (whole === undefined) tooLong.push(name);
    else
      fields.push({
        name,
        value,
        typed: whole,
        errors: said.flatMap(({ field, message }) => (field === name ? [message] : [])),
      });
  }
  const shown = new Set(fields.map(({ name }) => name));
  const others = said.filter(({ field }) => field === undefined || !shown.has(field));
  return {
    fields,
    tooLong,
    problems: others.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`)),
  };
}

// The group of a record that could not be read, and the entries around it there.

export async function placeInGroup(
  db: Queryable,
  { id, key }: RecordEntry,
): Promise<Pick<PostingView, 'group' | 'neighbours'>> {
  const own = await groupOfEntry(db, id);
  if (own === undefined) return { group: undefined, neighbours: undefined };
  return { group: own.group, neighbours: await neighboursOf(db, { ...own, key: key ?? '', entry: id }) };
}

// What the page of a posting is made of.

export interface PostingProps {
  readonly view: PostingView;
  /** Why nothing was done. */
  readonly refused?: string | undefined;
  /** What the button "Sync this posting now" has begun. */
  readonly synced?: SyncStart | undefined;
  /** What was typed as the reason. */
  readonly reason?: string | undefined;
}

// Keeps a page small whatever a feed or site has written: texts are shown from their beginning until the room is used up.

export interface TextBeginning {
  readonly text: string;
  /** How many characters of it are not shown. */
  readonly left: number;
}

interface Room {
  /** At most `most` characters of the text. */
  take(text: string, most: number): TextBeginning;
  /** The whole text, if it is short enough and there is room for it. */
  whole(text: string, most: number): string | undefined;
}

/** As HTML has it. */
const sizeOf = (text: string): number => Buffer.byteLength(text) + 5 * (text.match(/[&<>"']/g)?.length ?? 0);

/** @param bytes for all texts together, as HTML has them */
export function pageRoom(bytes: number): Room {
  let left = bytes;
  const take = (text: string, most: number): TextBeginning => {
    let shown = text.slice(0, Math.min(most, Math.max(left, 0)));
    while (sizeOf(shown) > left && shown.length > 0) shown = shown.slice(0, shown.length >> 1);
    // No half of a pair.
    if (shown.length < text.length) shown = shown.replace(/[\ud800-\udbff]$/, '');
    left -= sizeOf(shown);
    return { text: shown, left: text.length - shown.length };
  };
  return {
    take,
    whole: (text, most) => (text.length <= most && sizeOf(text) <= left ? take(text, most).text : undefined),
  };
}
