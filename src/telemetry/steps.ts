// Publishes the named steps of pulls and changes on a diagnostics channel. Nothing that ships subscribes; tests do, to kill
// the process at a step.
import { channel } from 'node:diagnostics_channel';

/** The steps at which a process may die. At each, another process must be able to continue from the database. */
export type Step =
  | 'pull-started'
  | 'records-read'
  | 'details-stored'
  | 'details-read'
  | 'changes-merged'
  | 'pull-committed'
  | 'intent-committed'
  | 'answer-received'
  | 'outcome-committed'
  | 'site-page-kept'
  | 'site-read'
  | 'site-searched'
  | 'doubt-listed'
  | 'doubt-resolved'
  | 'jobs-listed'
  | 'jobs-matched'
  | 'proposals-stored'
  | 'jobs-adopted'
  | 'matching-done'
  | 'found-checked'
  | 'found-adopted'
  | 'job-replaced'
  | 'postings-rekeyed'
  | 'jobs-verified'
  | 'differences-marked'
  | 'undo-started'
  | 'undo-merged'
  | 'undo-committed'
  | 'feed-file-kept'
  | 'feed-file-written'
  | 'feed-file-replaced';

const steps = channel('jobmirror:step');

/** Publishes that this step is reached, which costs nothing without subscribers. Subscribers run synchronously. */
export const crossStep = (step: Step): void => steps.publish(step);
