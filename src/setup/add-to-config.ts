// Adds a proposed feed to a configuration that exists, and keeps everything else in it, comments included.
import { type Document, isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { quoteStandardInput } from '../config/yaml-source.ts';

/** A configuration file as it is. */
export interface ExistingConfig {
  readonly text: string;
  /** Name → address, of its sites. */
  readonly sites: ReadonlyMap<string, string>;
  readonly feeds: readonly string[];
}

/** `undefined`: it is no YAML with settings. */
export function readExisting(text: string): ExistingConfig | undefined {
  const document = parsed(text);
  if (document === undefined) return undefined;
  const sites = entriesOf(document, 'sites').map(
    ([name, value]) => [name, isMap(value) ? String(value.get('base_url') ?? '') : ''] as const,
  );
  return { text, sites: new Map(sites), feeds: entriesOf(document, 'feeds').map(([name]) => name) };
}

/** @param written a whole configuration with the feed and its site, of which those that the text lacks are added. */
export function addToConfig({ text }: ExistingConfig, written: string): string {
  const document = parsed(text);
  const added = parseDocument(written);
  if (document === undefined) throw new Error('a configuration that was read is not valid');
  for (const group of ['sites', 'feeds']) {
    const known = new Set(entriesOf(document, group).map(([name]) => name));
    for (const pair of pairsOf(added, group)) {
      if (known.has(nameOf(pair))) continue;
      const map = document.get(group);
      if (isMap(map)) {
        // Comments have no place in `{}`.
        if (map.items.length === 0) map.flow = false;
        map.items.push(pair as (typeof map.items)[number]);
      } else {
        document.set(group, mapOf(added, pair));
      }
    }
  }
  return document.toString({ lineWidth: 0 });
}

function mapOf(document: Document, pair: Pair): YAMLMap {
  const map = document.createNode({}) as YAMLMap;
  map.flow = false;
  map.items.push(pair);
  return map;
}

function parsed(text: string): Document.Parsed | undefined {
  const document = parseDocument(quoteStandardInput(text));
  return document.errors.length === 0 && isMap(document.contents) ? document : undefined;
}

function pairsOf(document: Document, group: string): readonly Pair[] {
  const map = document.get(group);
  return isMap(map) ? (map.items as Pair[]) : [];
}

const entriesOf = (document: Document, group: string): readonly (readonly [string, unknown])[] =>
  pairsOf(document, group).map((pair) => [nameOf(pair), pair.value] as const);

const nameOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);
