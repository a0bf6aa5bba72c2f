// An operation: something that a person or a program can ask for, written once. The command line, the HTTP API and the pages adapt it,
// and hold no rule of their own.
import type { z } from 'zod';
import type { Scope } from '../config/build/web-config.ts';
import { type Config, namedFeeds, type SiteConfig } from '../config/config.ts';
import { shareReading } from '../flow/share-reading.ts';
import { type Message, textOf } from '../plan/message.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { App } from '../runtime/app.ts';
import { knownFeeds } from '../store/change/act-in-review.ts';
import type { ProcessControl } from './control.ts';

/** What an operation works with. */
export interface OperationContext {
  readonly app: App;
  /** Who asks, for the audit. */
  readonly actor: string;
  readonly control: ProcessControl;
  /** Aborted when whoever asks no longer waits. */
  readonly signal?: AbortSignal;
}

interface Described {
  /** Unique, as the OpenAPI document names it. */
  readonly id: string;
  /** Of the HTTP API below `/api/v1`, with members of the input in braces. */
  readonly path: string;
  /** What it does: a sentence without a subject and a full stop. */
  readonly summary: string;
  /** What the asker must be allowed to do. `read` changes nothing. */
  readonly scope: Scope;
  /** Changes nothing; by default, an operation with the scope `read`. */
  readonly reads?: boolean;
  /** What a request may have, if that is more than usual. */
  readonly mostBytes?: number;
}

/** Asks for one thing, or does one thing. */
export interface SingleOperation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType>
  extends Described {
  readonly kind: 'single';
  readonly input: Input;
  /** Strict: its input side is the JSON that every adapter writes. */
  readonly output: Output;
  /** Of an operation that only starts something: the path of the API where to ask what became of it. */
  locationOf?(started: z.output<Output>): string;
  /** @throws {OperationRefused} */
  run(input: z.output<Input>, asked: OperationContext): Promise<z.output<Output>>;
}

/** Lists things, a page at a time. */
export interface ListOperation<
  Input extends z.ZodType = z.ZodType,
  Item extends z.ZodType = z.ZodType,
  Place extends z.ZodType = z.ZodType,
> extends Described {
  readonly kind: 'list';
  readonly input: Input;
  readonly item: Item;
  /** Where a page ended. */
  readonly place: Place;
  /** At most so many, from the first after the place on. @throws {OperationRefused} */
  readPage(
    input: z.output<Input>,
    page: PageOf<z.output<Place>>,
    asked: OperationContext,
  ): Promise<ListPage<z.output<Item>, z.output<Place>>>;
}

interface PageOf<Place> {
  readonly limit: number;
  readonly after?: Place | undefined;
}

/** A list whose items tell where they are: it is asked for one more than a page has. */
interface OrderedList<Input extends z.ZodType, Item extends z.ZodType, Place extends z.ZodType>
  extends Omit<ListOperation<Input, Item, Place>, 'kind' | 'readPage'> {
  run(
    input: z.output<Input>,
    page: PageOf<z.output<Place>>,
    asked: OperationContext,
  ): Promise<readonly z.output<Item>[]>;
  placeOf(item: z.output<Item>): z.output<Place>;
}

/** Shows one thing with items that it has, a page of them at a time. */
export interface PageOperation<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodObject = z.ZodObject,
  Place extends z.ZodType = z.ZodType,
> extends Described {
  readonly kind: 'page';
  readonly input: Input;
  /** With `items`. */
  readonly output: Output;
  /** Where a page ended. */
  readonly place: Place;
  /** `next`: where the next page begins; `undefined`: nothing follows. @throws {OperationRefused} */
  run(
    input: z.output<Input>,
    page: { readonly limit: number; readonly after: z.output<Place> | undefined },
    asked: OperationContext,
  ): Promise<{ readonly shown: z.output<Output>; readonly next: z.output<Place> | undefined }>;
  /** All items as parts of a CSV file. */
  csv?(input: z.output<Input>, asked: OperationContext): AsyncIterable<string>;
}

export type Operation = SingleOperation | ListOperation | PageOperation;

export const operation = <Input extends z.ZodType, Output extends z.ZodType>(
  written: Omit<SingleOperation<Input, Output>, 'kind'>,
): SingleOperation<Input, Output> => ({
  kind: 'single',
  ...written,
  run: (input, asked) => shared(written, asked, [input], () => written.run(input, asked)),
});

export const listOperation = <Input extends z.ZodType, Item extends z.ZodType, Place extends z.ZodType>(
  written: OrderedList<Input, Item, Place> | Omit<ListOperation<Input, Item, Place>, 'kind'>,
): ListOperation<Input, Item, Place> => {
  if ('readPage' in written) return sharedList(written);
  const { run, placeOf, ...described } = written;
  return sharedList({
    ...described,
    async readPage(input, { limit, after }, asked) {
      const read = await run(input, { limit: limit + 1, after }, asked);
      const items = read.slice(0, limit);
      const last = read.length > limit ? items.at(-1) : undefined;
      return { items, next: last === undefined ? undefined : placeOf(last) };
    },
  });
};

const sharedList = <Input extends z.ZodType, Item extends z.ZodType, Place extends z.ZodType>(
  written: Omit<ListOperation<Input, Item, Place>, 'kind'>,
): ListOperation<Input, Item, Place> => ({
  kind: 'list',
  ...written,
  readPage: (input, page, asked) => shared(written, asked, [input, page], () => written.readPage(input, page, asked)),
});

export const pageOperation = <Input extends z.ZodType, Output extends z.ZodObject, Place extends z.ZodType>(
  written: Omit<PageOperation<Input, Output, Place>, 'kind'>,
): PageOperation<Input, Output, Place> => ({
  kind: 'page',
  ...written,
  run: (input, page, asked) => shared(written, asked, [input, page], () => written.run(input, page, asked)),
});

/** One reading for all who ask for the same at the same time, whoever they are. What needs more than the scope `read` is done for each. */
const shared = <T>(
  { id, scope }: Described,
  { app }: OperationContext,
  asked: readonly unknown[],
  read: () => Promise<T>,
): Promise<T> => (scope === 'read' ? shareReading(app.config, `${id} ${textKey(asked)}`, read) : read());

const textKey = (asked: readonly unknown[]): string =>
  JSON.stringify(asked, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

/** A page of a list, and where the next one begins. */
export interface ListPage<Item, Place> {
  readonly items: readonly Item[];
  /** `undefined`: nothing follows. */
  readonly next: Place | undefined;
}

type RefusalNotes = Partial<Pick<OperationRefused, 'subject' | 'retryAfterSeconds'>>;

/** Nothing was done. */
export class OperationRefused extends Error {
  override name = 'OperationRefused';
  /** `unknown`: there is no such thing. `conflict`: its present state does not allow it. `invalid`: what was asked for can't be right. */
  readonly kind: 'unknown' | 'conflict' | 'invalid';
  readonly reason: Message;
  /** The present state, for programs: members of the answer of the API. */
  readonly now: Readonly<Record<string, unknown>>;
  /** What the reason is about, where it does not say so itself. */
  readonly subject: string | undefined;
  /** When it may be possible. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    kind: OperationRefused['kind'],
    reason: Message,
    now: OperationRefused['now'] = {},
    { subject, retryAfterSeconds }: RefusalNotes = {},
  ) {
    super(textOf(reason));
    this.kind = kind;
    this.reason = reason;
    this.now = now;
    this.subject = subject;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A feed of the configuration or of the database. @throws {OperationRefused} */
export async function namedFeed({ config, db }: Pick<App, 'config' | 'db'>, name: string): Promise<FeedName> {
  const known = new Set([...namedFeeds(config), ...(await knownFeeds(db))]);
  if (known.has(name as FeedName)) return name as FeedName;
  throw new OperationRefused('unknown', `there is no feed ${name}; feeds: ${[...known].join(', ') || 'none'}`);
}

/** A site of the configuration. @throws {OperationRefused} */
export function namedSite({ sites }: Pick<Config, 'sites'>, name: string): SiteConfig {
  const site = sites.get(name as SiteName);
  if (site !== undefined) return site;
  throw new OperationRefused('unknown', `there is no site ${name}; sites: ${[...sites.keys()].join(', ') || 'none'}`);
}
