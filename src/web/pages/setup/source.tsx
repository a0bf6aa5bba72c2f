// The first step of adding a feed: where it comes from.
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, type Visit } from '../layout.tsx';
import type { GivenSource } from './read-draft.ts';

interface SourceProps {
  readonly visit: Visit;
  readonly sites: readonly string[];
  readonly given: GivenSource;
  readonly fault?: string;
}

export const SourcePage = ({ visit, sites, given, fault }: SourceProps) => (
  <Layout title="Add a feed" visit={visit}>
    <Steps at={0} />
    {fault !== undefined && <p role="alert" class="notice bad">{`${fault}.`}</p>}
    <form method="post" enctype="multipart/form-data" action={visit.prefix + pageAddress.newFeed()} class="setup">
      <Csrf visit={visit} />
      <p>
        <label for="source">Address of the feed</label>
        <input
          id="source"
          name="source"
          type="text"
          inputmode="url"
          autocomplete="off"
          value={given.source ?? ''}
          placeholder="https://ats.example.com/jobs.xml"
          aria-describedby="source-hint"
        />
        <span class="hint" id="source-hint">
          Paste it as you have it. A password or a key in it is not stored: the settings name a variable instead.
        </span>
      </p>
      <p>
        <label for="file">Or a file of it</label>
        <input id="file" name="file" type="file" aria-describedby="file-hint" />
        <span class="hint" id="file-hint">
          XML, JSON, a table or a page, also compressed, up to 32 MiB. It is kept for two hours to try the mapping on
          it.
        </span>
      </p>
      <p>
        <label for="site">Site that gets the jobs</label>
        <select id="site" name="site">
          {sites.map((site) => (
            <option selected={site === given.site}>{site}</option>
          ))}
        </select>
      </p>
      <details open={given.feed !== undefined || given.format !== undefined || given.records !== undefined}>
        <summary>More</summary>
        <p>
          <label for="feed">Name of the feed</label>
          <input id="feed" name="feed" value={given.feed ?? ''} aria-describedby="feed-hint" />
          <span class="hint" id="feed-hint">
            Lower-case letters, digits, - and _. By default from the address.
          </span>
        </p>
        <p>
          <label for="format">Format</label>
          <input id="format" name="format" value={given.format ?? ''} aria-describedby="format-hint" />
          <span class="hint" id="format-hint">
            A preset such as indeed, or own. By default the one that fits best.
          </span>
        </p>
        <p>
          <label for="records">Path of the records</label>
          <input id="records" name="records" value={given.records ?? ''} aria-describedby="records-hint" />
          <span class="hint" id="records-hint">
            Such as source/job, if they are not found.
          </span>
        </p>
      </details>
      <p>
        <button type="submit" class="main">
          Recognise the feed
        </button>
      </p>
    </form>
  </Layout>
);

const STEPS = ['Source', 'Fields', 'Settings'] as const;

/** Where the visitor is. */
export const Steps = ({ at }: { at: 0 | 1 | 2 }) => (
  <ol class="steps" aria-label="Steps">
    {STEPS.map((step, nth) => (
      <li aria-current={nth === at ? 'step' : undefined} class={nth < at ? 'done' : ''}>
        {step}
      </li>
    ))}
  </ol>
);
