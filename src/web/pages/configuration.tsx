// The files of feeds as text, their former versions, and what became of changes in the running processes: for those who may configure.
import type { Hono } from 'hono';
import type { z } from 'zod';
import { complaintLine } from '../../config/config-error.ts';
import {
  changesInWords,
  checkFeedText,
  listFeedVersions,
  reloadConfiguration,
  reloadedInWords,
  restoreFeedVersion,
  saveFeedText,
  showFeedText,
  showFeedVersion,
  showReload,
} from '../../operations/configuration.ts';
import { OperationRefused } from '../../operations/operation.ts';
import { plural } from '../../plan/message.ts';
import type { WebEnv } from '../web-env.ts';
import { linkTo, pageAddress } from './parts/addresses.ts';
import { Layout, PostForm } from './parts/layout.tsx';
import { askedBy, operationForm, type PageContext, type PageVisit, readInput, showPage } from './parts/page.tsx';
import { StackedTable, sentence, TextField, When } from './parts/parts.tsx';

type Shown = z.output<typeof showFeedText.output>;
type Saved = z.output<typeof saveFeedText.output>;
type Version = z.output<typeof listFeedVersions.item>;
type Reload = z.output<typeof showReload.output>;

/** All that are kept. */
const MOST_VERSIONS = 100;
const NEW_TEXT = 'site: \nsource: \nformat: \n';

export function configurationPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { config } = context.app;
  /** @param drafted what the person has written, instead of what the file has */
  const filePage = async (actor: string, name: string, drafted?: Drafted) => {
    const asked = askedBy(context, actor);
    const shown = await showFeedText.run({ feed: name }, asked).catch((error: unknown) => {
      if (!(error instanceof OperationRefused) || error.kind !== 'unknown') throw error;
      return undefined;
    });
    const { items } =
      shown === undefined
        ? { items: [] }
        : await listFeedVersions.readPage({ feed: name }, { limit: MOST_VERSIONS }, asked);
    return <FeedFilePage feed={name} shown={shown} versions={items} {...drafted} />;
  };
  pages.get(
    pageAddress.configuration(),
    showPage(async ({ actor }) => {
      const reload = await showReload.run({}, askedBy(context, actor));
      const feeds = [...config.feeds.keys(), ...config.brokenFeeds.keys()].sort();
      return <ConfigurationPage feeds={feeds} path={config.path} reload={reload} />;
    }, 'configure'),
  );
  pages.post(
    pageAddress.reload(),
    operationForm(context, reloadConfiguration, { next: () => pageAddress.configuration() }),
  );
  pages.get(
    '/feed/file',
    showPage(async ({ actor, query }) => {
      const { feed } = readInput(showFeedText, query);
      return filePage(actor, feed);
    }, 'configure'),
  );
  pages.get(
    '/feed/file/version',
    showPage(async ({ actor, query }) => {
      const { feed, version } = readInput(showFeedVersion, query);
      const { text } = await showFeedVersion.run({ feed, version }, askedBy(context, actor));
      return <VersionPage feed={feed} version={version} text={text} />;
    }, 'configure'),
  );
  pages.post(
    pageAddress.checkFeedFile(),
    operationForm(context, checkFeedText, {
      next: async ({ feed, problems, warnings }, form, { actor, html }) => {
        const said = [...problems.map(complaintLine), ...warnings.map((warning) => `Warning: ${warning}`)];
        const isRight = problems.length === 0;
        const drafted = { text: form.one('text') ?? '', seen: form.one('seen'), said, isRight };
        return html(await filePage(actor, feed, drafted));
      },
    }),
  );
  const refused = async (
    why: OperationRefused,
    { actor }: { readonly actor: string },
    {
      feed,
      text,
      seen,
      version,
    }: {
      readonly feed: string;
      readonly text?: string;
      readonly seen?: string | undefined;
      readonly version?: number;
    },
  ) => {
    if (why.kind === 'unknown') throw why;
    const present = presentTextIn(why);
    const drafted = {
      text,
      seen: present?.seen ?? seen,
      said: why.message.split('\n'),
      isRight: false,
      mayInsist: why.now.may_insist === true,
      version,
    };
    // A restore has no text of the person's own: the page has the present one anyway.
    return filePage(actor, feed, text === undefined ? drafted : { ...drafted, present });
  };
  /** What deserves attention is shown; what needs none leads back to the file. */
  const showSaved = async (saved: Saved, _form: unknown, { actor, html }: PageVisit): Promise<string | Response> => {
    const { feed, result, version, warnings } = saved;
    if (result === 'to_commit') return html(<CommitPage saved={saved} />);
    if (warnings.length === 0) return pageAddress.feedFile(feed);
    const said = warnings.map((warning) => `Warning: ${warning}`);
    const drafted = { text: undefined, seen: undefined, said, isRight: true, saved: version ?? undefined };
    return html(await filePage(actor, feed, drafted));
  };
  pages.post(
    pageAddress.saveFeedFile(),
    operationForm(context, saveFeedText, {
      next: showSaved,
      refused,
    }),
  );
  pages.post(
    pageAddress.restoreFeedFile(),
    operationForm(context, restoreFeedVersion, {
      next: showSaved,
      refused,
    }),
  );
}

/** What a person has written, with what was said of it. */
interface Drafted {
  readonly text: string | undefined;
  readonly seen: string | undefined;
  readonly said: readonly string[];
  readonly isRight: boolean;
  /** It is saved nevertheless if the person says so. */
  readonly mayInsist?: boolean;
  /** They have written nothing: this version was to be restored. */
  readonly version?: number | undefined;
  /** Their text was saved as this version. */
  readonly saved?: number | undefined;
  readonly present?: PresentText | undefined;
}

interface FeedFilePageProps extends Partial<Drafted> {
  readonly feed: string;
  /** `undefined`: the feed is new. */
  readonly shown: Shown | undefined;
  readonly versions: readonly Version[];
}

const FeedFilePage = ({ feed, shown, versions, ...drafted }: FeedFilePageProps) => {
  const { text, seen, said = [], isRight, mayInsist, version, saved, present } = drafted;
  const written = text ?? shown?.text ?? NEW_TEXT;
  return (
    <Layout title={shown === undefined ? `New feed ${feed}` : `File of feed ${feed}`}>
      <p>
        {shown === undefined ? 'The feed has no file yet.' : <code>{shown.file}</code>}{' '}
        <a href={linkTo(pageAddress.configuration())}>Configuration</a>
      </p>
      {typeof shown?.read_only === 'string' && (
        <p class="notice">{`It can not be saved from here: ${shown.read_only}. Save shows the file to commit.`}</p>
      )}
      {saved !== undefined && <p class="notice">{`It is saved, as version ${saved}.`}</p>}
      {isRight === true && saved === undefined && (
        <p class="notice">The configuration is right with this text. Nothing is saved yet.</p>
      )}
      {said.length > 0 && (
        <div role="alert" class={isRight === true ? 'notice' : 'notice bad'}>
          {said.map((line) => (
            <p>{line}</p>
          ))}
        </div>
      )}
      {mayInsist === true && version !== undefined && (
        <PostForm
          action={pageAddress.restoreFeedFile()}
          hidden={{ feed, version: String(version), seen: seen ?? '', anyway: 'true' }}
        >
          <p>
            <a href={linkTo(pageAddress.feedFileVersion(feed, version))}>{`Version ${version}`}</a>{' '}
            <button type="submit">{`Restore version ${version} anyway`}</button>
          </p>
        </PostForm>
      )}
      <PostForm action={pageAddress.saveFeedFile()} hidden={{ feed, seen: seen ?? shown?.seen ?? '' }}>
        <p>
          <label for="text">Settings (YAML)</label>
          <textarea id="text" name="text" rows={Math.min(40, written.split('\n').length + 3)} spellcheck={false}>
            {written}
          </textarea>
        </p>
        {mayInsist === true && version === undefined && <SaveAnyway />}
        <p>
          <button type="submit">Save</button>{' '}
          <button type="submit" formaction={linkTo(pageAddress.checkFeedFile())}>
            Check
          </button>
        </p>
      </PostForm>
      {present !== undefined && <PresentTextShown present={present} />}
      {versions.length > 0 && <Versions feed={feed} seen={shown?.seen ?? ''} versions={versions} />}
    </Layout>
  );
};

/** Asked of whoever saves a feed whose key loses postings, or that would send nothing. */
export const SaveAnyway = () => (
  <label class="option">
    <input type="checkbox" name="anyway" value="true" /> Save it anyway
  </label>
);

interface VersionsProps {
  readonly feed: string;
  readonly seen: string;
  readonly versions: readonly Version[];
}

const Versions = ({ feed, seen, versions }: VersionsProps) => (
  <>
    <h2>Versions</h2>
    <StackedTable
      label="Versions, newest first"
      columns={[
        {
          head: 'Version',
          inline: true,
          cell: ({ version }) => <a href={linkTo(pageAddress.feedFileVersion(feed, version))}>{version}</a>,
        },
        { head: 'When', inline: true, cell: ({ at }) => <When at={at} /> },
        { head: 'Who', inline: true, cell: ({ actor }) => actor ?? 'written by hand' },
        {
          head: 'What',
          cell: ({ version, present, lines }) =>
            present ? (
              'in the file'
            ) : (
              <PostForm
                action={pageAddress.restoreFeedFile()}
                class="row"
                hidden={{ feed, version: String(version), seen }}
              >
                {plural(lines, 'line')} <button type="submit">{`Restore version ${version}`}</button>
              </PostForm>
            ),
        },
      ]}
      rows={versions}
    />
  </>
);

const CommitPage = ({ saved: { feed, text, reason, include, warnings } }: { saved: Saved }) => (
  <Layout title={`File of feed ${feed}`}>
    <p class="notice">{`Nothing was written: ${reason}.`}</p>
    {warnings.map((warning) => (
      <p class="notice">{`Warning: ${warning}`}</p>
    ))}
    {include !== null && (
      <pre>
        <code>{include}</code>
      </pre>
    )}
    <pre class="scroll" tabindex={0}>
      <code>{text}</code>
    </pre>
  </Layout>
);

interface VersionPageProps {
  readonly feed: string;
  readonly version: number;
  readonly text: string;
}

const VersionPage = ({ feed, version, text }: VersionPageProps) => (
  <Layout title={`Feed ${feed}, version ${version} of its file`}>
    <p>
      <a href={linkTo(pageAddress.feedFile(feed))}>The file as it is now</a>
    </p>
    <pre class="scroll" tabindex={0}>
      <code>{text}</code>
    </pre>
  </Layout>
);

interface ConfigurationPageProps {
  readonly feeds: readonly string[];
  readonly path: string;
  readonly reload: Reload;
}

const ConfigurationPage = ({ feeds, path, reload }: ConfigurationPageProps) => (
  <Layout title="Configuration">
    <p>
      <code>{path}</code>
    </p>
    <h2>Feeds</h2>
    <ul>
      {feeds.map((feed) => (
        <li>
          <a href={linkTo(pageAddress.feedFile(feed))}>{feed}</a>
        </li>
      ))}
    </ul>
    <form class="row" method="get" action={linkTo('/feed/file')}>
      <TextField name="feed" label="Name of a new feed" required pattern="[a-z0-9][a-z0-9_\-]*" />
      <button type="submit">Write its file</button>
    </form>
    <h2>Running processes</h2>
    <p>They take changes over by themselves, once the files are right.</p>
    {reload.processes.map((process) => (
      <section>
        <p>
          {reloadedInWords(process)} {process.at !== null && <When at={process.at} />}
        </p>
        <ul>
          {changesInWords(process).map((line) => (
            <li>{sentence(line)}</li>
          ))}
        </ul>
      </section>
    ))}
    <PostForm action={pageAddress.reload()}>
      <button type="submit">Reload</button>
    </PostForm>
  </Layout>
);

// The text that a feed's file has now, which a person has not seen yet and the next save replaces.

/** What is there instead of what was shown. */
export interface PresentText {
  /** `undefined`: the file is gone. */
  readonly text: string | undefined;
  /** What the next save takes as `seen`: whoever saves again has been shown this. */
  readonly seen: string;
}

/** `undefined`: the refusal is about something else. */
export function presentTextIn({ kind, now }: OperationRefused): PresentText | undefined {
  if (kind !== 'conflict' || !('seen' in now)) return undefined;
  return {
    text: typeof now.text === 'string' ? now.text : undefined,
    seen: typeof now.seen === 'string' ? now.seen : '',
  };
}

export const PresentTextShown = ({ present: { text } }: { present: PresentText }) =>
  text === undefined ? (
    <p class="notice">The file is gone. If you save your text, it is written anew.</p>
  ) : (
    <section aria-labelledby="present">
      <h2 id="present">What the file has now</h2>
      <p>Somebody has changed it meanwhile. Take over into your text what shall stay: if you save, it replaces this.</p>
      <pre class="scroll" tabindex={0}>
        <code>{text}</code>
      </pre>
    </section>
  );
