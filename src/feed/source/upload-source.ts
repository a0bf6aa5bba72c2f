// A file that somebody has uploaded, as a source: it is kept in the database, which whoever opens the source reads.
import {
  FeedReadingError,
  type OpenedSource,
  oneDocument,
  reasonOf,
  type SourceContext,
  type SourceKind,
  type UploadedDocument,
} from './source.ts';

/** How a configuration names the file that was uploaded for the feed. */
export const UPLOADED_FILE = 'upload://';

export interface UploadConfig {
  readonly kind: 'upload';
  /** Whose file it is. */
  readonly feed: string;
}

export const uploadSource: SourceKind<UploadConfig> = {
  isRemote: false,
  isRepeatable: true,
  hasOwnVersions: true,
  open: openUpload,
  request: ({ kind, feed }) => ({ kind, feed }),
  placeOf: () => 'the uploaded file',
  secretsOf: () => [],
  publicConfig: ({ feed }) => ({ place: `${UPLOADED_FILE}${feed}` }),
};

async function openUpload({ feed }: UploadConfig, { uploads, version }: SourceContext): Promise<OpenedSource> {
  if (uploads === undefined) {
    const message =
      'the uploaded file is in the database, which is not read here; use a command that reads it, such as plan';
    return { kind: 'failed', message };
  }
  const found = await uploads(feed).catch((error: unknown) => {
    throw new FeedReadingError(`the uploaded file can't be read: ${reasonOf(error)}`);
  });
  if (found === undefined) {
    const message = 'no file has been uploaded for it yet: upload one on its page, or with the command feeds upload';
    return { kind: 'failed', message };
  }
  if (found.ofBackup === true) return { kind: 'failed', message: OF_BACKUP };
  const itsVersion = String(found.version);
  if (version === itsVersion) return { kind: 'not_modified' };
  if ((await found.fitsSettings?.()) === false) return { kind: 'failed', message: OTHER_SETTINGS };
  const { name, bytes: totalBytes } = found;
  return oneDocument({ name, id: UPLOADED_FILE, chunks: wholeOf(found), isEndProven: true, totalBytes }, itsVersion);
}

/** Read as the present one, it would delete, and set back, what came with a newer one. */
const OF_BACKUP =
  'the uploaded file came back with a backup of the database, and a newer one may have been uploaded since: upload the newest file again, even ' +
  'if it is this one';

const OTHER_SETTINGS =
  'the uploaded file is not read: the settings of the feed have changed since this process read them, and the file may have been uploaded ' +
  'for the new settings. A running process takes over new settings within seconds, unless there is a mistake in the configuration';

/** Ends properly only with the last byte that was uploaded. */
async function* wholeOf({ bytes, chunks }: UploadedDocument): AsyncGenerator<Buffer> {
  let read = 0;
  try {
    for await (const chunk of chunks) {
      read += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw new FeedReadingError(`reading the uploaded file failed: ${reasonOf(error)}`);
  }
  if (read !== bytes) throw new FeedReadingError(`the uploaded file has ${read} of ${bytes} bytes`);
}
