// All operations of the API, in the order of its documentation.
import { z } from 'zod';
import { listActivities, showActivity } from '../operations/activity.ts';
import { adoptFound, compareEntry, showAdoption, showFound, startAdoption } from '../operations/adoption.ts';
import {
  continueReviewAction,
  listReviewActions,
  showReviewAction,
  stopReviewAction,
} from '../operations/bulk-actions.ts';
import { listChanges } from '../operations/changes.ts';
import {
  checkFeedText,
  listFeedVersions,
  reloadConfiguration,
  restoreFeedVersion,
  saveFeedText,
  showFeedText,
  showFeedVersion,
  showReload,
} from '../operations/configuration.ts';
import {
  actOnReview,
  editReviewEntry,
  entryDecisions,
  setPostingFields,
  settleEntry,
} from '../operations/decisions.ts';
import { keepFeedSample, planFeedText, recogniseSource, tryFeedText } from '../operations/feed-setup.ts';
import { listUploads, restoreOfUpload, uploadFeed } from '../operations/feed-uploads.ts';
import { renewFeed, resumeStoppedFeed } from '../operations/feeds.ts';
import type { ListOperation, Operation, PageOperation, SingleOperation } from '../operations/operation.ts';
import { endPersonsPause, pauseSending } from '../operations/pauses.ts';
import { renewPosting, showPosting, syncPosting, undoEdit } from '../operations/postings.ts';
import { showPull, showPulls, startFeedPull } from '../operations/pulls.ts';
import { showQueues } from '../operations/queues.ts';
import { decideAboutRekey, showRekey } from '../operations/rekey.ts';
import { listPostings } from '../operations/report.ts';
import {
  listReview,
  listReviewGroups,
  previewActionOnReview,
  showEntry,
  showReviewGroup,
} from '../operations/review.ts';
import {
  addReviewRule,
  endReviewRule,
  listReviewRules,
  noteReviewGroup,
  removeReviewNote,
} from '../operations/rules.ts';
import {
  cursorSchema,
  fromText,
  fromTexts,
  isList,
  isOptional,
  limitSchema,
  membersOf,
  NO_MEMBERS,
} from '../operations/scalars.ts';
import { resumeConfiguredSite } from '../operations/sites.ts';
import { listFeeds, listSites, showFeed, showStatus } from '../operations/status.ts';
import { showUndo, undoPulled } from '../operations/undo.ts';
import { checkedBody, type HttpOperation } from './read-request.ts';
import { decodeCursor, encodeCursor } from './web-env.ts';

// Adapts an operation to HTTP: the members of its input that the path names, and the others in the query or the body.

/** Items of a page without `limit`. */
const SHOWN = 50;

function httpOperation(operation: Operation): HttpOperation {
  switch (operation.kind) {
    case 'single':
      return single(operation);
    case 'list':
      return paged(operation, z.looseObject({ items: z.array(operation.item) }), async (input, page, asked) => {
        const { items, next } = await operation.readPage(input, page, asked);
        return { shown: { items: [...items] }, next };
      });
    case 'page':
      return { ...paged(operation, operation.output, operation.run), ...csvOf(operation) };
    default:
      return operation satisfies never;
  }
}

function single(operation: SingleOperation): HttpOperation {
  const { id, path, summary, scope, output, mostBytes, locationOf, reads = scope === 'read' } = operation;
  const { params, query, body } = placed(operation);
  return {
    id,
    method: reads ? 'get' : 'post',
    path,
    summary,
    scope,
    ...(mostBytes === undefined ? {} : { mostBytes }),
    params,
    query: reads ? query : NO_MEMBERS,
    body: reads ? undefined : body,
    status: locationOf === undefined ? 200 : 202,
    response: output,
    async run(read, asked) {
      const given = { ...asObject(read.params), ...asObject(read.query), ...asObject(read.body) };
      // What was read of one of several forms is not read again: it may have become something else.
      // Each member is right by now; what they say together need not be.
      const input = operation.input instanceof z.ZodObject ? checkedBody(operation.input, given) : given;
      const result = await operation.run(input, asked);
      const answer = { body: z.encode(output, result) };
      return locationOf === undefined ? answer : { ...answer, status: 202, location: locationOf(result) };
    },
  };
}

function paged(
  operation: ListOperation | PageOperation,
  output: z.ZodObject,
  read: PageOperation['run'],
): HttpOperation {
  const { id, path, summary, scope, place } = operation;
  const { params, query } = placed(operation);
  return {
    id,
    method: 'get',
    path,
    summary,
    scope,
    params,
    query: query.extend({ cursor: cursorSchema, limit: limitSchema }),
    body: undefined,
    status: 200,
    response: output.extend({ next_cursor: z.string().nullable().describe('`null`: nothing follows.') }),
    async run(given, asked) {
      const { cursor, limit, ...rest } = asObject(given.query) as { readonly cursor?: string; readonly limit?: number };
      const input = operation.input.parse({ ...asObject(given.params), ...rest });
      const page = { limit: limit ?? SHOWN, after: decodeCursor(cursor, place) };
      const { shown, next } = await read(input, page, asked);
      return { body: { ...z.encode(output, shown), next_cursor: encodeCursor(next) } };
    },
  };
}

function csvOf(operation: PageOperation): Pick<HttpOperation, 'csv'> {
  const { csv, input } = operation;
  if (csv === undefined) return {};
  return {
    csv(given, asked) {
      const { cursor: _, limit: __, ...query } = asObject(given.query) as { cursor?: string; limit?: number };
      return csv(input.parse({ ...asObject(given.params), ...query }), asked);
    },
  };
}

type Members = Readonly<Record<string, z.ZodType>>;

/** The members of the input that the path names, and the rest as a query and as a body. An input may have several forms. */
function placed({ path, input }: Operation): { params: z.ZodObject; query: z.ZodObject; body: z.ZodType } {
  const named = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''));
  const split = (form: z.ZodType) => {
    const members = Object.entries(membersOf(form));
    return {
      inPath: Object.fromEntries(members.filter(([name]) => named.has(name))),
      others: Object.fromEntries(members.filter(([name]) => !named.has(name))),
    };
  };
  if (input instanceof z.ZodDiscriminatedUnion) {
    const forms = input.options.map((form) => split(form as z.ZodType));
    const [first, ...rest] = forms.map(({ others }) => z.strictObject(others));
    const isWhole = forms.every(({ inPath }) => Object.keys(inPath).length === 0);
    const body = isWhole ? input : z.discriminatedUnion(input.def.discriminator, [first as z.ZodObject, ...rest]);
    return { params: z.strictObject(asTexts(forms[0]?.inPath ?? {})), query: NO_MEMBERS, body };
  }
  const { inPath, others } = split(input);
  return { params: z.strictObject(asTexts(inPath)), query: z.strictObject(asTexts(others)), body: bodyOf(others) };
}

const asTexts = (members: Members) =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, isList(schema) ? fromTexts(schema) : fromText(schema)]),
  );

/** May be left out if each of its members may. */
function bodyOf(members: Members): z.ZodType {
  const body = z.strictObject(members);
  return Object.values(members).every(isOptional) ? body.optional() : body;
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

const SERVED: readonly Operation[] = [
  showStatus,
  listFeeds,
  showFeed,
  keepFeedSample,
  recogniseSource,
  tryFeedText,
  planFeedText,
  uploadFeed,
  listUploads,
  restoreOfUpload,
  startFeedPull,
  resumeStoppedFeed,
  renewFeed,
  showFeedText,
  saveFeedText,
  checkFeedText,
  listFeedVersions,
  showFeedVersion,
  restoreFeedVersion,
  showRekey,
  decideAboutRekey,
  showAdoption,
  startAdoption,
  showFound,
  adoptFound,
  showPulls,
  showPull,
  showUndo,
  undoPulled,
  listPostings,
  showPosting,
  syncPosting,
  setPostingFields,
  undoEdit,
  renewPosting,
  listReview,
  // Before paths that have a number in their place.
  listReviewGroups,
  showReviewGroup,
  previewActionOnReview,
  actOnReview,
  listReviewActions,
  showReviewAction,
  stopReviewAction,
  continueReviewAction,
  listReviewRules,
  addReviewRule,
  endReviewRule,
  noteReviewGroup,
  removeReviewNote,
  showEntry,
  compareEntry,
  ...entryDecisions,
  editReviewEntry,
  settleEntry,
  listSites,
  showQueues,
  resumeConfiguredSite,
  pauseSending,
  endPersonsPause,
  listChanges,
  listActivities,
  showReload,
  reloadConfiguration,
  showActivity,
];

export const OPERATIONS: readonly HttpOperation[] = SERVED.map(httpOperation);
