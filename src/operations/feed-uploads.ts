// The files that people upload as the source of a feed: uploaded, listed, and put back to a former one.
import { z } from 'zod';
import type { FeedConfig } from '../config/config.ts';
import { completeSave } from '../config/feed-files.ts';
import { plural } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type KeptSample, MOST_SAMPLE_BYTES, readSample, tryDraft } from '../runtime/feed-trial.ts';
import { addUpload, lockNewestUpload, MOST_UPLOADS, readUploads, restoreUpload } from '../store/feed/feed-uploads.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { base64Text, keepUpload, namedSample, SHOWN_NAME, sampleName } from './feed-setup.ts';
import { listOperation, namedFeed, type OperationContext, OperationRefused, operation } from './operation.ts';
import { count, feedNameText, idNumber, text, time } from './scalars.ts';

/** As Base64 in JSON, with room for the rest. */
const MOST_BODY_BYTES = Math.ceil((MOST_SAMPLE_BYTES * 4) / 3) + 4096;

/** @throws {OperationRefused} unless it reads what is uploaded for it */
function expectUploadFeed({ config }: OperationContext['app'], feed: FeedName): FeedConfig {
  const configured = config.feeds.get(feed);
  if (configured === undefined) {
    const why = config.brokenFeeds.has(feed) ? 'its configuration is wrong' : 'it is not in the configuration';
    throw new OperationRefused('conflict', `nothing was uploaded for feed ${feed}: ${why}`);
  }
  if (readsUpload(configured)) return configured;
  const message = `nothing was uploaded: feed ${feed} does not read uploaded files; write source: upload:// into its settings first`;
  throw new OperationRefused('conflict', message);
}

/** Whether the feed reads a file that was uploaded for it. */
export function readsUpload({ source: { from } }: Pick<FeedConfig, 'source'>): boolean {
  const members = from.kind === 'several' ? from.members : [from];
  return members.some(({ kind }) => kind === 'upload');
}

const seenVersion = z
  .int()
  .min(0)
  .max(1e15)
  .optional()
  .describe(
    'Number of the newest file that was shown, 0 if there was none: refused if somebody has uploaded another one since.',
  );

interface AddedUpload {
  readonly version: number;
  readonly isNew: boolean;
}

/** Unless the newest file is another than whoever asks has seen. What the feed reads already needs no second look. */
async function addAfter<Added extends AddedUpload | undefined>(
  { db, config }: Pick<OperationContext['app'], 'db' | 'config'>,
  feed: FeedName,
  seen: number | undefined,
  add: (tx: Queryable) => Promise<Added>,
): Promise<Added> {
  // What was saved before counts as uploaded before.
  await completeSave(db, feed, config.feedFiles.get(feed));
  return db.transaction(async (tx) => {
    const newest = await lockNewestUpload(tx, feed);
    const added = await add(tx);
    const version = newest?.version ?? 0;
    if (added?.isNew !== true || seen === undefined || seen === version) return added;
    const present =
      newest === undefined
        ? 'no uploaded file of it is there any more'
        : `${newest.actor} has uploaded another file since, file ${version}, ${newest.name}`;
    const message = `nothing was changed for feed ${feed}: ${present}; look at it again`;
    throw new OperationRefused('conflict', message, { seen: version });
  });
}

const uploadedOutput = z.strictObject({
  feed: z.string(),
  result: z.enum(['uploaded', 'unchanged']).describe('`unchanged`: the newest file has this content already.'),
  version: count.describe('Number of the newest file, which the next pull reads.'),
});

export const uploadFeed = operation({
  id: 'uploadFeed',
  path: '/feeds/{feed}/uploads',
  summary: 'Upload the file that a feed with `source: upload://` reads from now on',
  scope: 'configure',
  mostBytes: MOST_BODY_BYTES,
  input: z.strictObject({
    feed: feedNameText.describe('Name of the feed.'),
    name: text(SHOWN_NAME).min(1).optional().describe('The name of the file, for people.'),
    content: base64Text.optional().describe('The bytes of the file, in Base64: at most 32 MiB of them.'),
    sample: sampleName.optional().describe('Instead of `content`: a sample that was uploaded.'),
    piped: z
      .boolean()
      .optional()
      .describe(
        'It came through a pipe, which ends in the same way if the program before it fails: then it must show its own end.',
      ),
    seen: seenVersion,
    anyway: z.boolean().optional().describe('Also if the feed finds no posting in it that would be sent.'),
  }),
  output: uploadedOutput
    .extend({
      records: count,
      sent: count.describe('Postings that would be sent.'),
      rejected: count,
      complete: z.boolean().describe('Whether it is proven complete: otherwise nothing is deleted.'),
    })
    .meta({ title: 'UploadedFile' }),
  async run({ feed: named, name = 'file', content, sample: id, piped = false, seen, anyway = false }, asked) {
    const { app, actor, signal } = asked;
    const feed = await namedFeed(app, named);
    expectUploadFeed(app, feed);
    if ((content === undefined) === (id === undefined)) {
      throw new OperationRefused('invalid', 'give either the content of a file, or a sample');
    }
    const sample =
      content === undefined
        ? await namedSample(id, actor)
        : await keepUpload({ name, bytes: Buffer.from(content, 'base64') }, actor);
    if (sample?.isUpload !== true) throw new OperationRefused('invalid', 'the sample is no file that was uploaded');
    const found = await whatItHas(app, feed, { sample, piped, signal });
    if (!anyway && found.message !== undefined) throw refusedFile(feed, found);
    if (piped && !found.isWhole) throw refusedPipe(feed);
    if (!anyway && found.sent === 0) throw refusedFile(feed, found);
    const upload = { name: sample.name, content: await readSample(sample), actor };
    const { version, isNew } = await addAfter(app, feed, seen, (tx) => addUpload(tx, feed, upload));
    const { records, sent, rejected, complete } = found;
    return { feed, result: isNew ? 'uploaded' : 'unchanged', version, records, sent, rejected, complete } as const;
  },
});

interface FoundInFile {
  readonly records: number;
  readonly sent: number;
  readonly rejected: number;
  readonly complete: boolean;
  /** Its content shows that nothing is missing at its end, wherever it came from. */
  readonly isWhole: boolean;
  /** Why it can't be read. */
  readonly message?: string;
}

async function whatItHas(
  { config, db }: OperationContext['app'],
  feed: FeedName,
  asked: { readonly sample: KeptSample; readonly piped: boolean; readonly signal: AbortSignal | undefined },
): Promise<FoundInFile> {
  const request = { config, db, feed, samples: 1, onlySample: undefined, network: undefined, ...asked };
  const tried = await tryDraft(request);
  const nothing = { records: 0, sent: 0, rejected: 0, complete: false, isWhole: false };
  if (typeof tried === 'string') return { ...nothing, message: tried };
  const { trial } = tried;
  if (trial.kind === 'failed') return { ...nothing, message: trial.message };
  const { seen, postings, rejected, shortfalls, weak } = trial;
  const complete = shortfalls.length === 0;
  return { records: seen, sent: postings - rejected, rejected, complete, isWhole: complete && weak === undefined };
}

const refusedPipe = (feed: FeedName): OperationRefused =>
  new OperationRefused(
    'invalid',
    `nothing was uploaded for feed ${feed}: it came through a pipe, which ends in the same way if the program before it fails, and its content does not prove that it is complete. Save it in a file first, and upload that only if that succeeded`,
  );

function refusedFile(feed: FeedName, { message, records, rejected }: FoundInFile): OperationRefused {
  const why =
    message ??
    (records === 0
      ? 'it has no records where the feed looks for them'
      : `of its ${plural(records, 'record')}, ${rejected === 0 ? 'none is a posting' : `${rejected} would be rejected and none sent`}`);
  return new OperationRefused(
    'invalid',
    `nothing was uploaded, because this does not look like a file of feed ${feed}: ${why}. If it is one, upload it anyway`,
    { records, rejected, may_insist: true },
  );
}

export const listUploads = listOperation({
  id: 'listUploads',
  path: '/feeds/{feed}/uploads',
  summary: `The files that were uploaded for a feed, the newest first; the last ${MOST_UPLOADS} are kept`,
  scope: 'configure',
  input: z.strictObject({ feed: feedNameText.describe('Name of the feed.') }),
  item: z
    .strictObject({
      version: count.describe('Its number: a later one is larger.'),
      at: time,
      actor: z.string().describe('Who uploaded it.'),
      name: z.string().describe('The name of the file.'),
      bytes: count,
      present: z.boolean().describe('The feed reads this one.'),
      of_backup: z
        .boolean()
        .describe(
          'It came back with a backup of the database: nothing is read until the newest file is uploaded again, or this one read again.',
        ),
    })
    .meta({ title: 'Upload' }),
  place: z.strictObject({ before: idNumber }),
  async run({ feed: named }, { limit, after }, { app }) {
    const feed = await namedFeed(app, named);
    await completeSave(app.db, feed, app.config.feedFiles.get(feed));
    const uploads = await readUploads(app.db, feed);
    return uploads
      .map(({ ofBackup, ...upload }, at) => ({ ...upload, present: at === 0 && !ofBackup, of_backup: ofBackup }))
      .filter(({ version }) => after === undefined || version < after.before)
      .slice(0, limit);
  },
  placeOf: ({ version }) => ({ before: version }),
});

export const restoreOfUpload = operation({
  id: 'restoreUpload',
  path: '/feeds/{feed}/uploads/{version}/restore',
  summary: 'Let a feed read a file again that was uploaded before',
  scope: 'configure',
  input: z.strictObject({ feed: feedNameText.describe('Name of the feed.'), version: idNumber, seen: seenVersion }),
  output: uploadedOutput.meta({ title: 'RestoredUpload' }),
  async run({ feed: named, version: former, seen }, { app, actor }) {
    const feed = await namedFeed(app, named);
    expectUploadFeed(app, feed);
    const restored = await addAfter(app, feed, seen, (tx) => restoreUpload(tx, feed, { version: former, actor }));
    if (restored === undefined) {
      throw new OperationRefused('unknown', `feed ${feed} has no uploaded file ${former}`);
    }
    const { version, isNew } = restored;
    return { feed, result: isNew ? 'uploaded' : 'unchanged', version } as const;
  },
});
