// The visit that a page is rendered for, and the addresses of the pages. Keys of postings and groups are parameters, as browsers would
// resolve a key such as `..` in a path.
import { createContext, useContext } from 'hono/jsx';
import type { Scope } from '../../../config/build/web-config.ts';
import type { PauseSubject, PersonsPause } from '../../../plan/pause-words.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { Visitor } from '../../visitor.ts';

/** What every page knows about its request. */
export interface Visit {
  /** The path below which everything is served. */
  readonly prefix: string;
  /** `undefined`: the page to sign in on, and errors. */
  readonly visitor: Visitor | undefined;
  /** What people have paused. Absent: the page to sign in on, and errors. */
  readonly pauses?: readonly PersonsPause[];
  /** A feed with its site. */
  readonly aboutFeed?: (feed: FeedName) => PauseSubject;
}

const VisitContext = createContext<Visit | undefined>(undefined);

/** Has a page rendered for the visit that is its value. */
export const Visiting = VisitContext.Provider;

/** The visit whose page is being rendered. @throws outside of its components */
export function currentVisit(): Visit {
  const visit = useContext(VisitContext);
  if (visit === undefined) throw new Error('only the components of a page have a visit');
  return visit;
}

/** An address of ours as the browser asks for it. */
export const linkTo = (address: string): string => currentVisit().prefix + address;

/** Whether the visitor may act, so that pages offer only what they may do. */
const may = (scope: Scope): boolean => currentVisit().visitor?.scopes.has(scope) === true;
export const mayReview = (): boolean => may('review');
export const mayConfigure = (): boolean => may('configure');
export const mayPull = (): boolean => may('pull');

const query = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

/** Which review entries a list shows. */
export interface ReviewSelection {
  readonly group?: string | undefined;
  readonly feed?: string | undefined;
  readonly site?: string | undefined;
  readonly kind?: string | undefined;
  readonly q?: string | undefined;
  /** How long they have waited at least, or less than: `12h`, `3d`. */
  readonly older_than?: string | undefined;
  readonly newer_than?: string | undefined;
  readonly discarded?: 'true' | undefined;
  readonly cursor?: string | undefined;
}

/** Which changes a list shows. */
export interface ChangesSelection {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly operation?: string | undefined;
  readonly feed?: string | undefined;
  readonly before?: number | undefined;
}

/** Below the prefix of the client. */
export const pageAddress = {
  overview: () => '/',
  feed: (feed: string) => `/feed${query({ feed })}`,
  startPull: () => '/feed/pull',
  newFeed: () => '/feeds/new',
  changeFeed: (feed?: string) => `/feeds/change${query({ feed })}`,
  setupMapping: () => '/feeds/setup/fields',
  setupSettings: () => '/feeds/setup/settings',
  resumeFeed: () => '/feed/resume',
  uploads: (feed?: string) => `/feed/uploads${query({ feed })}`,
  restoreUpload: () => '/feed/uploads/restore',
  feedFile: (feed: string) => `/feed/file${query({ feed })}`,
  checkFeedFile: () => '/feed/file/check',
  saveFeedFile: () => '/feed/file/save',
  feedFileVersion: (feed: string, version: number) => `/feed/file/version${query({ feed, version })}`,
  restoreFeedFile: () => '/feed/file/restore',
  configuration: () => '/configuration',
  reload: () => '/configuration/reload',
  /** Groups of entries. */
  review: (selection: Omit<ReviewSelection, 'group' | 'cursor'> & { readonly page?: number | undefined } = {}) =>
    `/review${query({ ...selection })}`,
  /** The entries of a group, or of another selection. */
  entries: (selection: ReviewSelection) => `/review/entries${query({ ...selection })}`,
  /** Asks before an action on a selection, or on some of its entries as they were shown. */
  confirmAction: (action: string, selection: ReviewSelection, entries: readonly string[] = []) =>
    `/review/confirm${query({ action, ...selection })}${entries.map((entry) => `&entry=${entry}`).join('')}`,
  /** One entry: the page of its posting, or of a record that could not be read. */
  entry: (id: number) => `/review/entry${query({ id })}`,
  decideEntry: (id: number) => `/review/entry/${id}/decide`,
  bulkActions: (cursor?: string) => `/review/actions${query({ cursor })}`,
  bulkAction: (id: number) => `/review/actions/${id}`,
  stopBulkAction: (id: number) => `/review/actions/${id}/stop`,
  continueBulkAction: (id: number) => `/review/actions/${id}/continue`,
  rules: (cursor?: string) => `/review/rules${query({ cursor })}`,
  endRule: (id: number) => `/review/rules/${id}/end`,
  notes: () => '/review/notes',
  removeNote: (id: number) => `/review/notes/${id}/remove`,
  /**
   * @param group the group that the visitor goes through, for the links to the next posting and the one before
   * @param sync the pull that was just started for it, or `later`
   */
  posting: (feed: string, key: string, group?: string, sync?: number | 'later') =>
    `/posting${query({ feed, key, group, sync })}`,
  syncPosting: () => '/posting/sync',
  renewPosting: () => '/posting/renew',
  editPosting: () => '/posting/edit',
  undoEdit: () => '/posting/undo-edit',
  pulls: (feed?: string, before?: number) => `/pulls${query({ feed, before })}`,
  /** @param shown which of its effects, after which key */
  pull: (id: number, shown: { readonly show?: string | undefined; readonly after?: string | undefined } = {}) =>
    `/pulls/${id}${query({ ...shown })}`,
  /** What undoing a pull would do, and the form that does it. */
  undoPull: (id: number) => `/pulls/${id}/undo`,
  /** @param chosen whether all of the page are chosen */
  held: (feed?: string, cursor?: string, chosen?: 'all') => `/held${query({ feed, cursor, chosen })}`,
  /** Changed keys: which new posting is which missing one. @param shown which kind of them, and from which on */
  rekey: (feed?: string, shown: { readonly show?: string; readonly cursor?: string | undefined } = {}) =>
    `/rekey${query({ feed, ...shown })}`,
  /** Jobs that the site already has: which one belongs to which posting. @param shown which kind of postings */
  adopt: (feed?: string, shown: { readonly show?: string; readonly cursor?: string | undefined } = {}) =>
    `/adopt${query({ feed, ...shown })}`,
  /** @param resolved the entry that was just resolved */
  doubts: (feed?: string, { cursor, resolved }: { readonly cursor?: string; readonly resolved?: number } = {}) =>
    `/doubts${query({ feed, cursor, resolved })}`,
  /** Jobs that a search of the site found for a feed. */
  found: (feed?: string) => `/doubts/found${query({ feed })}`,
  doubt: (id: number) => `/doubts/${id}`,
  /** Reads candidates from the site. @param job an ID that the visitor typed */
  doubtCandidates: (id: number, job?: string) => `/doubts/${id}${query({ ask: 'site', job })}`,
  jobs: (search: { readonly feed?: string; readonly q?: string; readonly cursor?: string } = {}) =>
    `/jobs${query({ ...search })}`,
  sites: () => '/sites',
  site: (site: string) => `/sites/${encodeURIComponent(site)}`,
  resumeSite: (site: string) => `/sites/${encodeURIComponent(site)}/resume`,
  /** Asks before it stops this. */
  pause: ({ feed, site }: { readonly feed?: string | undefined; readonly site?: string | undefined }) =>
    `/pause${query({ feed, site })}`,
  endPause: () => '/pause/end',
  queues: () => '/queues',
  changes: (selection: ChangesSelection = {}) => `/changes${query({ ...selection })}`,
  changesFile: (selection: ChangesSelection) => `/changes.csv${query({ ...selection })}`,
  activity: (
    selection: {
      readonly feed?: string | undefined;
      readonly actor?: string | undefined;
      /** Where older ones begin. */
      readonly after?: string | undefined;
      /** Each posting of the action that wrote this entry. */
      readonly of?: number | undefined;
      readonly before?: number | undefined;
    } = {},
  ) => `/activity${query({ ...selection })}`,
} as const;
