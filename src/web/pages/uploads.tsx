// The files that were uploaded as the source of a feed: the form for the next one, and the former ones, which can be read again.
import type { Hono } from 'hono';
import type { z } from 'zod';
import { keepUpload } from '../../operations/feed-setup.ts';
import { listUploads, readsUpload, restoreOfUpload, uploadFeed } from '../../operations/feed-uploads.ts';
import { OperationRefused } from '../../operations/operation.ts';
import { startFeedPull } from '../../operations/pulls.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { MOST_SAMPLE_BYTES } from '../../runtime/feed-trial.ts';
import type { WebEnv } from '../web-env.ts';
import { linkTo, pageAddress } from './parts/addresses.ts';
import { Layout, PostForm } from './parts/layout.tsx';
import {
  actOnForm,
  askedBy,
  operationForm,
  type PageContext,
  type PageVisit,
  readInput,
  showPage,
} from './parts/page.tsx';
import { Alert, StackedTable, sentence, When } from './parts/parts.tsx';
import { malformed } from './parts/read-form.ts';

type Upload = z.output<typeof listUploads.item>;

/** More than are kept. */
const MOST_SHOWN = 100;

export function uploadPages(pages: Hono<WebEnv>, context: PageContext): void {
  const page = async ({ actor }: PageVisit, feed: string, refused?: Refused) => {
    const { items } = await listUploads.readPage({ feed }, { limit: MOST_SHOWN }, askedBy(context, actor));
    const configured = context.app.config.feeds.get(feed as FeedName);
    const reads = configured !== undefined && readsUpload(configured);
    return <UploadsPage feed={feed} uploads={items} reads={reads} {...refused} />;
  };
  pages.get(
    pageAddress.uploads(),
    showPage(async (asked) => page(asked, readInput(listUploads, asked.query).feed), 'configure'),
  );
  pages.post(
    pageAddress.uploads(),
    actOnForm(
      uploadFeed.scope,
      async (asked) => {
        const { form, actor, goTo } = asked;
        const about = askedBy(context, actor);
        const { feed } = readInput(listUploads, (name) => form.one(name));
        const seen = form.one('seen');
        const anyway = form.one('anyway') === 'true';
        let sample = form.one('sample');
        try {
          const file = form.file('file');
          sample = file === undefined ? sample : (await keepUpload(file, actor)).id;
          if (sample === undefined) throw new OperationRefused('invalid', 'choose a file first');
          await uploadFeed.run({ feed, sample, anyway, seen: seenIn(seen) }, about);
        } catch (error) {
          if (!(error instanceof OperationRefused) || error.kind === 'unknown') throw error;
          // Only what it has, or what came before it, was refused: the same file can be uploaded nevertheless.
          const mayInsist = error.now.may_insist === true;
          const mayGoOn = mayInsist || 'seen' in error.now;
          const kept = mayGoOn && sample !== undefined ? { sample, anyway: anyway || mayInsist } : undefined;
          return page(asked, feed, { fault: error.message, kept });
        }
        if (form.one('go') !== 'pull' || !asked.visit.visitor.scopes.has(startFeedPull.scope)) {
          return goTo(pageAddress.uploads(feed));
        }
        try {
          return goTo(pageAddress.pull((await startFeedPull.run({ feed }, about)).pull));
        } catch (error) {
          if (!(error instanceof OperationRefused)) throw error;
          return page(asked, feed, { fault: `the file is uploaded, but ${error.message}` });
        }
      },
      MOST_SAMPLE_BYTES,
    ),
  );
  pages.post(
    pageAddress.restoreUpload(),
    operationForm(context, restoreOfUpload, {
      required: ['seen'],
      next: ({ feed }) => pageAddress.uploads(feed),
      refused: async (why, asked, { feed }) => page(asked, feed, { fault: why.message }),
    }),
  );
}

/** What the page has shown. @throws {ProblemError} if the form is not of it */
function seenIn(written: string | undefined): number {
  if (written !== undefined && /^\d{1,15}$/.test(written)) return Number(written);
  throw malformed('seen', 'is missing: open the page again');
}

interface Refused {
  readonly fault: string;
  /** The file that was refused, if it can be uploaded nevertheless. */
  readonly kept?: { readonly sample: string; readonly anyway: boolean } | undefined;
}

interface UploadsProps extends Partial<Refused> {
  readonly feed: string;
  readonly uploads: readonly Upload[];
  /** The feed reads what is uploaded. */
  readonly reads: boolean;
}

const UploadsPage = ({ feed, uploads, reads, fault, kept }: UploadsProps) => {
  const [present] = uploads;
  const seen = String(present?.version ?? 0);
  return (
    <Layout title={`Uploaded files of feed ${feed}`} section="overview">
      {fault !== undefined && <Alert>{`${sentence(fault)}.`}</Alert>}
      {kept !== undefined && (
        <PostForm
          enctype="multipart/form-data"
          action={pageAddress.uploads()}
          hidden={{ feed, sample: kept.sample, seen, anyway: kept.anyway ? 'true' : undefined }}
        >
          <button type="submit">Upload it anyway</button>
        </PostForm>
      )}
      <p>
        {reads
          ? present === undefined
            ? 'No file has been uploaded yet, so its pulls fail.'
            : present.of_backup
              ? 'The newest of these files came back with a backup of the database, and a newer one may have been uploaded since. So its pulls fail until you upload the newest file again, or have one of these read again.'
              : 'The feed reads the newest of these files. It changes only when a newer one is uploaded.'
          : 'The feed does not read uploaded files. Its settings would say source: upload://.'}{' '}
        <a href={linkTo(pageAddress.feed(feed))}>{`Feed ${feed}`}</a>
      </p>
      {reads && (
        <PostForm enctype="multipart/form-data" action={pageAddress.uploads()} class="setup" hidden={{ feed, seen }}>
          <p>
            <label for="file">The newer file, with all postings</label>
            <input id="file" name="file" type="file" required aria-describedby="file-hint" />
            <span class="hint" id="file-hint">
              Up to 32 MiB, also compressed. What it lacks is deleted from the site, within the delete guard.
            </span>
          </p>
          <p class="row actions">
            <button type="submit" name="go" value="pull" class="main">
              Upload and pull
            </button>
            <button type="submit" name="go" value="wait">
              Only upload
            </button>
          </p>
        </PostForm>
      )}
      {uploads.length > 0 && <Uploads feed={feed} uploads={uploads} reads={reads} />}
    </Layout>
  );
};

const Uploads = ({ feed, uploads, reads }: Pick<UploadsProps, 'feed' | 'uploads' | 'reads'>) => (
  <StackedTable
    label="Uploaded files, newest first"
    columns={[
      { head: 'File', cell: ({ version }) => version },
      { head: 'Name', cell: ({ name }) => name },
      { head: 'Size', inline: true, cell: ({ bytes }) => sizeInWords(bytes) },
      { head: 'When', inline: true, cell: ({ at }) => <When at={at} /> },
      { head: 'Who', inline: true, cell: ({ actor }) => actor },
      {
        head: 'What',
        bare: true,
        cell: ({ present, version }) => {
          if (present) return 'read by the feed';
          const seen = String(uploads[0]?.version ?? 0);
          return reads ? <ReadAgain feed={feed} version={version} seen={seen} /> : '';
        },
      },
    ]}
    rows={uploads}
  />
);

interface ReadAgainProps {
  readonly feed: string;
  readonly version: number;
  readonly seen: string;
}

const ReadAgain = ({ feed, version, seen }: ReadAgainProps) => (
  <PostForm action={pageAddress.restoreUpload()} class="row" hidden={{ feed, version: String(version), seen }}>
    <button type="submit">{`Read file ${version} again`}</button>
  </PostForm>
);

const KIB = 1024;

function sizeInWords(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  return bytes < KIB * KIB ? `${Math.round(bytes / KIB)} KiB` : `${(bytes / KIB / KIB).toFixed(1)} MiB`;
}
