// Recognises a feed from the beginning of its document: its encoding, and how it is read.
import { findPresets } from '../config/presets.ts';
import type { Network, SingleConfig } from '../feed/source/sources.ts';
import { type Opening, readOpening } from './opening.ts';
import { type Proposal, proposeFormat } from './propose.ts';

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
  | { readonly kind: 'refused'; readonly message: string };

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
  if (result.kind === 'refused') return refused(`the feed is not recognised: ${result.message}`);
  if (isChosen && result.proposal.preset === undefined) {
    return refused(`the feed has no records with a key and a title for the preset ${format}; try without --format`);
  }
  return { kind: 'recognised', ...opened, proposal: result.proposal };
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
