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
import { renewOfFeed, resumeStoppedFeed } from '../../operations/feeds.ts';
import { noteReviewGroup, removeReviewNote } from '../../operations/notes.ts';
import { renewPosting, showPosting, syncPosting, undoEdit } from '../../operations/postings.ts';
import { showPull, showPulls, startFeedPull } from '../../operations/pulls.ts';
import { showQueues } from '../../operations/queues.ts';
import { decideAboutRekey, showRekey } from '../../operations/rekey.ts';
import { addReviewRule, endReviewRule, listReviewRules } from '../../operations/rules.ts';
import { resumeConfiguredSite } from '../../operations/sites.ts';
import { listFeeds, listSites, showFeed, showStatus } from '../../operations/status.ts';
import { ENTRY_ACTIONS } from './act-on-entry.ts';
import { setFields } from './edits.ts';
import { actOnReview, listReviewGroups, previewActionOnReview } from './groups.ts';
import { httpOperation } from './http-operation.ts';
import type { HttpOperation } from './http-route.ts';
import { listPostings } from './postings.ts';
import { listReview, showEntry } from './review.ts';

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
  setFields,
  httpOperation(undoEdit),
  httpOperation(renewPosting),
  listReview,
  // Before paths that have a number in their place.
  listReviewGroups,
  previewActionOnReview,
  actOnReview,
  httpOperation(listReviewActions),
  httpOperation(showReviewAction),
  httpOperation(stopReviewAction),
  httpOperation(continueReviewAction),
  httpOperation(listReviewRules),
  httpOperation(addReviewRule),
  httpOperation(endReviewRule),
  httpOperation(noteReviewGroup),
  httpOperation(removeReviewNote),
  showEntry,
  httpOperation(compareEntry),
  ...ENTRY_ACTIONS,
  httpOperation(listSites),
  httpOperation(showQueues),
  httpOperation(resumeConfiguredSite),
  httpOperation(showActivity),
];
