// A site that rewrites titles, shows no references and answers creates with errors after their commit: no posting gets two jobs, and none
// is sent again because its title looks different (law 1).
import { describe, expect } from 'vitest';
import { firstOf } from '../support/extent.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { runSql } from '../support/sql.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';

const TITLES = [
  'Driver (CDL-A)',
  'Data-entry clerk',
  'RN/LPN, nights',
  'C++ developer',
  'Sous-chef',
  'Store manager II',
];
const COUNT = 24;
const feed = feedXml(
  Array.from({ length: COUNT }, (_, at) =>
    posting(`k${String(at).padStart(2, '0')}`, {
      title: TITLES[at % TITLES.length] ?? '',
      city: ['Boston', 'Salem'][at % 2] ?? '',
      description: `<p>You work with team ${at} &amp; report to <b>Ann</b>.</p><ul><li>Lift ${at + 10} pounds</li></ul>`,
    }),
  ),
);

const TITLEIZE = `initcap(regexp_replace(new.fields->>'title', '[-_]', ' ', 'g'))`;
const UNFORESEEN = `'Opening ' || substr(md5(new.fields->>'title'), 1, 8)`;
const SANITIZE = `regexp_replace(new.fields->>'description', '<[^>]*>', '', 'g')`;

interface Habit {
  readonly title: string;
  readonly dropped?: readonly string[];
  /** SQL expressions of further fields. */
  readonly others?: Readonly<Record<string, string>>;
  readonly site?: Readonly<Record<string, string | undefined>>;
  readonly feed?: Readonly<Record<string, string>>;
  /** Nothing that the site shows tells the jobs apart, so that a person decides. */
  readonly isUnsure?: true;
}

const NO_REFERENCE = { reference_field: undefined };

const HABITS: Readonly<Record<string, Habit>> = {
  'titles in title case, no references': { title: TITLEIZE, dropped: ['number'], site: NO_REFERENCE },
  'titles in title case, references that it drops silently': { title: TITLEIZE, dropped: ['number'] },
  'other titles, texts without markup': {
    title: UNFORESEEN,
    dropped: ['number'],
    others: { description: SANITIZE },
    site: NO_REFERENCE,
  },
  'other titles, no addresses': { title: UNFORESEEN, dropped: ['number', 'contact-web-address'], site: NO_REFERENCE },
  'other titles, no texts, states abbreviated': {
    title: UNFORESEEN,
    dropped: ['number', 'description'],
    others: { 'location-state': `'MA'` },
    site: NO_REFERENCE,
  },
  'other titles, numbers and instants in another form': {
    title: TITLEIZE,
    dropped: ['number', 'description'],
    others: { pay: `'20.5'`, starts: `'2027-01-01T02:00:00-10:00'` },
    feed: { fields: '{ pay: { value: "20.50" }, starts: { value: "2027-01-01T12:00:00Z" } }' },
    site: NO_REFERENCE,
  },
  'other titles, no addresses and no texts': {
    title: UNFORESEEN,
    dropped: ['number', 'contact-web-address', 'description'],
    site: NO_REFERENCE,
    isUnsure: true,
  },
};

async function adopt(installation: Installation, { title, dropped = [], others = {} }: Habit): Promise<void> {
  const database = installation.env.DATABASE_URL ?? '';
  const changed = Object.entries({ title, ...others }).flatMap(([name, sql]) => [`'${name}'`, sql]);
  const left = dropped.map((name) => ` - '${name}'`).join('');
  await runSql(
    database,
    `create function sandbox.rewrite_job() returns trigger language plpgsql as $$ begin
       new.fields := ((new.fields::jsonb || jsonb_build_object(${changed.join(', ')}))${left})::json; return new; end $$`,
  );
  await runSql(
    database,
    'create trigger rewrite_job before insert on sandbox.job for each row execute function sandbox.rewrite_job()',
  );
}

const own = async ({ sandbox, owner }: Installation) =>
  (await sandbox.inspect.jobs()).filter((siteJob) => siteJob.owner === owner);

describe('a site with', { concurrent: true }, () => {
  it.for(firstOf(Object.entries(HABITS), 3))(
    '%s: every posting has one job, or a person is asked',
    { timeout: 900_000 },
    async ([, habit], { open }) => {
      const installation = await open({ site: habit.site, feed: habit.feed });
      await adopt(installation, habit);
      await installation.sandbox.setFaults([{ name: '500', made: true, on: ['create'], rate: 0.35 }]);
      await installation.writeFeed(feed);
      await installation.sync();
      const report = await heal(installation);
      const jobs = await own(installation);
      const mapped = await installation.query('select distinct site_job_id as id from mapping');
      if (habit.isUnsure === true) {
        expect(jobs.length).toBeLessThanOrEqual(COUNT);
        expect(mapped.length + report.in_doubt).toBe(COUNT);
      } else {
        expect(report).toMatchObject({ in_doubt: 0, failed: 0, pending: 0 });
        expect(jobs).toHaveLength(COUNT);
        expect(mapped).toHaveLength(COUNT);
      }
    },
  );
});
