// All operations of the API, in the order of its documentation.
import { ENTRY_ACTIONS } from './act-on-entry.ts';
import { showActivity } from './activity.ts';
import { showAdoption, startAdoption } from './adopt.ts';
import { compareEntry } from './candidates.ts';
import { setFields, undoEdit } from './edits.ts';
import { listFeeds, showFeed, showPull, startFeedPull } from './feeds.ts';
import { adoptFound, showFound } from './found.ts';
import {
  actOnReview,
  continueReviewAction,
  listReviewActions,
  listReviewGroups,
  previewActionOnReview,
  showReviewAction,
  stopReviewAction,
} from './groups.ts';
import type { Operation } from './operation.ts';
import { listPostings, renewPosting, showPosting, syncPosting } from './postings.ts';
import { decideAboutRekey, showRekey } from './rekey.ts';
import { listReview, showEntry } from './review.ts';
import { addReviewRule, endReviewRule, listReviewRules, noteReviewGroup, removeReviewNote } from './rules.ts';
import { listSites, resumeConfiguredSite } from './sites.ts';

export const OPERATIONS: readonly Operation[] = [
  listFeeds,
  showFeed,
  startFeedPull,
  showRekey,
  decideAboutRekey,
  showAdoption,
  startAdoption,
  showFound,
  adoptFound,
  showPull,
  listPostings,
  showPosting,
  syncPosting,
  setFields,
  undoEdit,
  renewPosting,
  listReview,
  // Before paths that have a number in their place.
  listReviewGroups,
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
  ...ENTRY_ACTIONS,
  listSites,
  resumeConfiguredSite,
  showActivity,
];
