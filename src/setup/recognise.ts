// Recognises a feed from the beginning of its document: its encoding, and how it is read.
import { settingsOfDraft } from '../config/feed-draft.ts';
import { findPresets, readPreset } from '../config/presets.ts';
import { formatSchema, type WrittenFormat } from '../config/schema/format-schema.ts';
import type { Network, SingleConfig } from '../feed/source/sources.ts';
import { mayBeNewest } from '../plan/delete-guard.ts';
import { type PathFill, PathValues } from '../posting/paths/path-census.ts';
import { type Opening, readOpening } from './opening.ts';
import { feedConfigOf } from './preset-fit.ts';
import { type Proposal, type ProposalResult, proposeFormat } from './propose.ts';
import { sampleRecords } from './sample-records.ts';

export interface RecognitionRequest {
  /** Where its beginning is read. */
  readonly from: SingleConfig;
  /** As the person wrote it: some systems are known by the form of their addresses. */
  readonly address: string;
  /** Of the configuration file: the user's own presets are beside it. */
  readonly folder: string;
  /** A preset that the person chose, or `own` for a format of its own. */
  readonly format: string | undefined;
  /** Where the records are, if the person knows it. */
  readonly records: string | undefined;
  readonly signal: AbortSignal;
  /** By default the system's. */
  readonly network?: Network | undefined;
}

export type Recognition =
  | {
      readonly kind: 'recognised';
      readonly opening: Extract<Opening, { kind: 'opening' }>;
      /** To be configured, as the document does not say it. */
      readonly encoding: string | undefined;
      readonly proposal: Proposal;
    }
  | Extract<ProposalResult, { kind: 'refused' }>;

const refused = (message: string): Recognition => ({ kind: 'refused', message });

/** Throws only the reason of the signal. */
export async function recogniseFeed(request: RecognitionRequest): Promise<Recognition> {
  const { address, folder, format, records } = request;
  const opened = await open(request);
  if ('message' in opened) return refused(`the feed cannot be read: ${opened.message}`);
  const { byName } = await findPresets(folder);
  const chosen = format === undefined || format === 'own' ? [...byName.values()] : [byName.get(format)];
  if (chosen.includes(undefined)) {
    return refused(`there is no preset ${format}; docs/formats.md lists them: ${[...byName.keys()].join(', ')}`);
  }
  const presets = chosen.flatMap((preset) => preset ?? []);
  const isOwn = format === 'own';
  const isChosen = format !== undefined && !isOwn;
  const result = await proposeFormat({ ...opened.opening, address, presets, records, isOwn, isChosen });
  if (result.kind === 'refused') return { ...result, message: `the feed is not recognised: ${result.message}` };
  if (isChosen && result.proposal.preset === undefined) {
    return refused(
      `the feed has no records with a key and a title for the preset ${format}; without a format, the one that fits best is chosen`,
    );
  }
  const { preset, settings, notes } = result.proposal;
  const named = preset && byName.get(preset.name);
  const newest = newestNote(
    address,
    opened.opening,
    { ...settings, ...(named && (await readPreset(named))) },
    result.proposal,
  );
  return { kind: 'recognised', ...opened, proposal: { ...result.proposal, notes: [...notes, ...newest] } };
}

/** Such a feed looks as whole as one that lists all. */
function newestNote(
  address: string,
  { isWhole, headers: { following, listTotal } }: Extract<Opening, { kind: 'opening' }>,
  { pages, total = [] }: { readonly pages?: unknown; readonly total?: unknown },
  { records }: Proposal,
): readonly string[] {
  const isStated = following !== undefined || listTotal !== undefined || [total].flat().length > 0;
  const isOnly = isWhole && !isStated && pages === undefined;
  if (!isOnly || !/^https?:/i.test(address) || !mayBeNewest(records)) return [];
  return [
    `the feed has exactly ${records} postings, as a list of only the newest ones has: compare with the site that it comes from; if there are more, ask for all of them in its address, or set policy: upsert_only`,
  ];
}

/** Tries the usual encoding of old Windows programs if the bytes are no UTF-8. */
async function open({ from, signal, network }: RecognitionRequest) {
  for (const encoding of [undefined, 'windows-1252']) {
    const opening = await readOpening(from, encoding, signal, network);
    if (opening.kind === 'failed') return { message: opening.message };
    if (!opening.isBroken || encoding !== undefined) return { opening, encoding };
  }
  return { message: 'its encoding is not known' };
}

// The paths of a sample's records by the format of a draft whose other settings may still be wrong or missing.

/** Empty if the format is wrong, or the sample has no records of it. @param folder that of the configuration file */
export async function samplePaths(
  { path, isUpload }: { readonly path: string; readonly isUpload: boolean },
  draft: string,
  folder: string,
): Promise<readonly PathFill[]> {
  const data = settingsOfDraft(draft);
  const format = await formatInFolder(data.format, folder);
  if (format === undefined) return [];
  const written = typeof data.encoding === 'string' ? data.encoding : undefined;
  const opening = await readOpening({ kind: 'file', path }, isUpload ? written : 'utf-8', AbortSignal.timeout(10_000));
  if (opening.kind === 'failed') return [];
  const { source } = feedConfigOf(format);
  // Tables are refused without the columns of the key.
  const table = source.table && { ...source.table, keyPaths: [] };
  const lenient = data.lenient === true;
  const { trees } = await sampleRecords(opening.bytes, { ...source, lenient, ...(table && { table }) });
  const values = new PathValues();
  for (const tree of trees) values.add(tree);
  return values.all();
}

async function formatInFolder(written: unknown, folder: string): Promise<WrittenFormat | undefined> {
  if (typeof written === 'string') {
    const preset = (await findPresets(folder)).byName.get(written);
    return preset && readPreset(preset);
  }
  // The key and the fields may be what is wrong.
  const settings = { ...Object(written), key: 'key', fields: {} };
  const checked = formatSchema.safeParse(settings);
  return checked.success ? checked.data : undefined;
}
