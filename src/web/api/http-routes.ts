// All operations of the API, in the order of its documentation.
import { showActivity } from '../../operations/activity.ts';
import { adoptFound, showAdoption, showFound, startAdoption } from '../../operations/adoption.ts';
import {
  continueReviewAction,
  listReviewActions,
  showReviewAction,
  stopReviewAction,
} from '../../operations/bulk-actions.ts';
import { compareEntry } from '../../operations/candidates.ts';
import {
  actOnReview,
  editReviewEntry,
  entryDecisions,
  setPostingFields,
  settleEntry,
} from '../../operations/decisions.ts';
import { renewOfFeed, resumeStoppedFeed } from '../../operations/feeds.ts';
import { noteReviewGroup, removeReviewNote } from '../../operations/notes.ts';
import { renewPosting, showPosting, syncPosting, undoEdit } from '../../operations/postings.ts';
import { showPull, showPulls, startFeedPull } from '../../operations/pulls.ts';
import { showQueues } from '../../operations/queues.ts';
import { decideAboutRekey, showRekey } from '../../operations/rekey.ts';
import {
  listReview,
  listReviewGroups,
  previewActionOnReview,
  showEntry,
  showReviewGroup,
} from '../../operations/review.ts';
import { addReviewRule, endReviewRule, listReviewRules } from '../../operations/rules.ts';
import { resumeConfiguredSite } from '../../operations/sites.ts';
import { listFeeds, listSites, showFeed, showStatus } from '../../operations/status.ts';
import { httpOperation } from './http-operation.ts';
import type { HttpOperation } from './http-route.ts';
import { listPostings } from './postings.ts';

export const OPERATIONS: readonly HttpOperation[] = [
  httpOperation(showStatus),
  httpOperation(listFeeds),
  httpOperation(showFeed),
  httpOperation(startFeedPull),
  httpOperation(resumeStoppedFeed),
  httpOperation(renewOfFeed),
  httpOperation(showRekey),
  httpOperation(decideAboutRekey),
  httpOperation(showAdoption),
  httpOperation(startAdoption),
  httpOperation(showFound),
  httpOperation(adoptFound),
  httpOperation(showPulls),
  httpOperation(showPull),
  listPostings,
  httpOperation(showPosting),
  httpOperation(syncPosting),
  httpOperation(setPostingFields),
  httpOperation(undoEdit),
  httpOperation(renewPosting),
  httpOperation(listReview),
  // Before paths that have a number in their place.
  httpOperation(listReviewGroups),
  httpOperation(showReviewGroup),
  httpOperation(previewActionOnReview),
  httpOperation(actOnReview),
  httpOperation(listReviewActions),
  httpOperation(showReviewAction),
  httpOperation(stopReviewAction),
  httpOperation(continueReviewAction),
  httpOperation(listReviewRules),
  httpOperation(addReviewRule),
  httpOperation(endReviewRule),
  httpOperation(noteReviewGroup),
  httpOperation(removeReviewNote),
  httpOperation(showEntry),
  httpOperation(compareEntry),
  ...entryDecisions.map((each) => httpOperation(each)),
  httpOperation(editReviewEntry),
  httpOperation(settleEntry),
  httpOperation(listSites),
  httpOperation(showQueues),
  httpOperation(resumeConfiguredSite),
  httpOperation(showActivity),
];
