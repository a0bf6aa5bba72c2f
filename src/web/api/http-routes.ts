// All operations of the API, in the order of its documentation.
import { listActivities, showActivity } from '../../operations/activity.ts';
import { adoptFound, showAdoption, showFound, startAdoption } from '../../operations/adoption.ts';
import {
  continueReviewAction,
  listReviewActions,
  showReviewAction,
  stopReviewAction,
} from '../../operations/bulk-actions.ts';
import { compareEntry } from '../../operations/candidates.ts';
import { listChanges } from '../../operations/changes.ts';
import { reloadConfiguration, showReload } from '../../operations/configuration.ts';
import {
  actOnReview,
  editReviewEntry,
  entryDecisions,
  setPostingFields,
  settleEntry,
} from '../../operations/decisions.ts';
import {
  checkFeedText,
  listFeedVersions,
  restoreFeedVersion,
  saveFeedText,
  showFeedText,
  showFeedVersion,
} from '../../operations/feed-files.ts';
import { keepFeedSample, planFeedText, recogniseSource, tryFeedText } from '../../operations/feed-setup.ts';
import { renewOfFeed, resumeStoppedFeed } from '../../operations/feeds.ts';
import { noteReviewGroup, removeReviewNote } from '../../operations/notes.ts';
import type { Operation } from '../../operations/operation.ts';
import { endPersonsPause, pauseSending } from '../../operations/pauses.ts';
import { renewPosting, showPosting, syncPosting, undoEdit } from '../../operations/postings.ts';
import { showPull, showPulls, startFeedPull } from '../../operations/pulls.ts';
import { showQueues } from '../../operations/queues.ts';
import { decideAboutRekey, showRekey } from '../../operations/rekey.ts';
import { listPostings } from '../../operations/report.ts';
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
import { showUndo, undoPulled } from '../../operations/undo.ts';
import { httpOperation } from './http-operation.ts';
import type { HttpOperation } from './http-route.ts';

const SERVED: readonly Operation[] = [
  showStatus,
  listFeeds,
  showFeed,
  keepFeedSample,
  recogniseSource,
  tryFeedText,
  planFeedText,
  startFeedPull,
  resumeStoppedFeed,
  renewOfFeed,
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
