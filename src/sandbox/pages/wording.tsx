// Formats numbers, times and places for the pages.

import type { State } from '../job-states.ts';
import type { Job } from '../store/jobs.ts';

const number = new Intl.NumberFormat('en-US');
const day = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium' });
const moment = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'medium' });

/** "1 job", "1,234 jobs". */
export const quantity = (count: number, thing: string): string =>
  `${number.format(count)} ${thing}${count === 1 ? '' : 's'}`;

/** A day, for lists. */
export const Day = ({ at }: { at: Date }) => <time datetime={at.toISOString()}>{day.format(at)}</time>;

/** A day and time with its zone. */
export const Moment = ({ at }: { at: Date }) => <time datetime={at.toISOString()}>{moment.format(at)} UTC</time>;

/** "Boston, Massachusetts". */
export const placeOf = (job: Job, state: State | undefined): string =>
  [job.fields['location-city'], state?.name ?? job.state].filter(Boolean).join(', ');
