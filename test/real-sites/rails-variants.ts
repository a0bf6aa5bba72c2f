// The ways in which sites that Rails made differ, each with what a mirror can know there.
import type { BoardOptions } from './mirrored-board.ts';

export interface Variant extends BoardOptions {
  readonly name: string;
  /** The site changes or drops what is sent: what it makes of it is only known from its answers. */
  readonly rewrites?: boolean;
  /** Its list does not show every job: only a person can say whether a create in doubt was made. */
  readonly hides?: boolean;
  /** It still shows deleted jobs: once a posting comes back, its former job is shown with its reference, too. */
  readonly showsDeleted?: boolean;
}

const NO_REFERENCE = { UNPERMITTED: 'number' };

export const VARIANTS: readonly Variant[] = [
  { name: 'as the scaffold makes it' },
  { name: 'with underscored names, answering updates with the job', variant: { KEYS: 'underscored', UPDATED: '200' } },
  {
    name: 'redirecting after updates and deletes',
    variant: { UPDATED: '302', REWRITE: 'title:titleize' },
    rewrites: true,
  },
  { name: 'with pages and a Link header', variant: { PAGING: 'link', PAGE_SIZE: '3' } },
  { name: 'with pages and a total', variant: { PAGING: 'totals', PAGE_SIZE: '3', UPDATED: '200' } },
  { name: 'with pages that nothing announces', variant: { PAGING: 'silent', PAGE_SIZE: '3' } },
  {
    name: 'that strips and squishes texts',
    variant: { REWRITE: 'title:squish,description:squish,location_city:strip', UPDATED: '200' },
    rewrites: true,
  },
  { name: 'that titleizes titles', variant: { REWRITE: 'title:titleize' }, rewrites: true },
  {
    name: 'that titleizes titles and drops the reference silently',
    variant: { ...NO_REFERENCE, REWRITE: 'title:titleize' },
    rewrites: true,
  },
  {
    name: 'that titleizes titles, without a reference field',
    variant: { ...NO_REFERENCE, REWRITE: 'title:titleize', UPDATED: '200' },
    site: { reference_field: undefined },
    rewrites: true,
  },
  { name: 'that sanitizes descriptions', variant: { REWRITE: 'description:sanitize', UPDATED: '200' }, rewrites: true },
  {
    name: 'that formats and cuts descriptions',
    variant: { REWRITE: 'description:simple_format+truncate60' },
    rewrites: true,
  },
  { name: 'in another time zone', variant: { TIME_ZONE: 'Hawaii' } },
  {
    name: 'in another time zone, dropping the reference',
    variant: { ...NO_REFERENCE, TIME_ZONE: 'Kathmandu', UPDATED: '200' },
    rewrites: true,
  },
  { name: 'with a lock version', variant: { LOCKING: '1' } },
  { name: 'that keeps deleted rows and hides them', variant: { DELETED: '404' } },
  { name: 'that keeps deleted rows and answers 410', variant: { DELETED: '410', UPDATED: '200' } },
  { name: 'that shows deleted rows with a flag', variant: { DELETED: 'flag' }, showsDeleted: true },
  { name: 'that everybody may read', variant: { PUBLIC: '1' } },
  { name: 'that lists a new job once it is published', variant: { MODERATED: '1' }, hides: true },
];
