// Proposes which records are no postings: lines about the stream, and the row with the totals of a report.
import { pathStep } from '../posting/path-census.ts';
import type { RecordTree } from '../posting/posting.ts';
import { parseValuePath, textsAt } from '../posting/value-path.ts';
import type { SampledRecords } from './sample-records.ts';

export interface ProposedSkip {
  /** The setting `skip`; `undefined`: all are postings. */
  readonly skip: Readonly<Record<string, unknown>> | undefined;
  /** The sampled records that stay. */
  readonly trees: readonly RecordTree[];
  /** What a person should know. */
  readonly notes: readonly string[];
}

const TOTAL =
  /^(?:grand |sub-?)?(?:total|totals|sum|summe|gesamt|gesamtsumme|totaal|suma|somme|totale)\b[\s:]*[\d.,]*$/i;

export function proposeSkip(type: string, sample: SampledRecords): ProposedSkip {
  const { trees } = sample;
  if (type === 'jsonl' && trees.some((tree) => isMessage(tree, 'RECORD')) && trees.every((tree) => isMessage(tree))) {
    const streams = new Set(trees.flatMap((tree) => textsAt(parseValuePath('stream'), tree)));
    return {
      skip: { type: { not: 'RECORD' } },
      trees: trees.filter((tree) => isMessage(tree, 'RECORD')),
      notes: [
        'its lines are messages of Singer or Airbyte, of which those of the type RECORD are postings',
        ...(streams.size > 1
          ? [`it has several streams (${[...streams].join(', ')}); skip those without postings: skip: { stream: … }`]
          : []),
      ],
    };
  }
  const total = type === 'csv' ? totalRow(sample) : undefined;
  if (total === undefined) return { skip: undefined, trees, notes: [] };
  return {
    skip: { [total.path]: { matches: `(?i)^\\s*${total.word}\\b` } },
    trees: trees.filter((tree) => !isTotal(tree)),
    notes: [`its last row is the total of a report and is skipped`],
  };
}

const MESSAGES = new Set(['SCHEMA', 'RECORD', 'STATE', 'ACTIVATE_VERSION', 'BATCH', 'LOG', 'TRACE', 'CATALOG', 'SPEC']);

function isMessage(tree: RecordTree, type?: string): boolean {
  const [text = ''] = textsAt(TYPE, tree);
  return type === undefined ? MESSAGES.has(text) : text === type;
}
const TYPE = parseValuePath('type');

function totalRow({ trees, last }: SampledRecords): { readonly path: string; readonly word: string } | undefined {
  if (last === undefined || trees.length < 2 || !isTotal(last)) return undefined;
  const [name, text] = cellsOf(last).find(([, cell]) => cell.trim() !== '') ?? ['', ''];
  return { path: pathStep(name), word: /^[^\d:.,]+/.exec(text.trim())?.[0].trim() ?? 'total' };
}

/** Whether the first text of the row is "Total", and most of its cells are empty. */
function isTotal(tree: RecordTree): boolean {
  const cells = cellsOf(tree);
  const filled = cells.filter(([, text]) => text.trim() !== '');
  return TOTAL.test(filled[0]?.[1].trim() ?? '') && filled.length <= Math.max(2, cells.length / 2);
}

const cellsOf = (tree: RecordTree): readonly (readonly [string, string])[] =>
  typeof tree === 'string' ? [] : Object.entries(tree).map(([name, cell]) => [name, [cell].flat().join(' ')] as const);
