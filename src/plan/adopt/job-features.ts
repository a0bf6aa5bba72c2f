// What is compared of a posting and of a site job to tell whether they are the same, in a compact form.
import { hash } from 'node:crypto';
import type { Fields } from '../../posting/posting.ts';
import { cluesOf } from '../match-doubt.ts';
import { isShownExactly, type LearntRewrites, rewritings } from '../observe-values.ts';
import { fieldOf, foldSpace, referenceForm } from '../same-value.ts';
import { type Place, type PlaceRules, placeOf } from './place-likeness.ts';
import { sketchOf, textDigest, wordsOf } from './text-likeness.ts';

/** How a site's jobs are compared with the postings of a feed. */
export interface AdoptRules extends PlaceRules {
  readonly referenceField: string | undefined;
  /** How the site is known to rewrite values. */
  readonly learnt: LearntRewrites;
}

/** What a posting and a site job have in common as things to compare. */
interface Features {
  /** The title in the form that ignores usual rewriting. */
  readonly title: string | undefined;
  readonly titleWords: readonly string[];
  readonly place: Place;
  readonly sketch: readonly number[] | undefined;
}

/** What is compared of a posting. */
export interface PostingFeatures extends Features {
  /** The reference; its key if it has none. */
  readonly reference: string;
  readonly isReferenceSent: boolean;
  /** Whether the site may show the reference in another usual form. */
  readonly mayTakeForm: boolean;
  /** The reference with white space folded, and everything that the site is known to make of it. */
  readonly shownAs: readonly string[];
  /** The title, and everything that the site is known to make of it, in the same form. */
  readonly titles: readonly string[];
  /** Digests of each other field's value, and of everything that the site is known to make of it. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** What is compared of a site job. */
export interface JobFeatures extends Features {
  readonly reference: string | undefined;
  /** The digest of each other field's value. */
  readonly values: Readonly<Record<string, string>>;
  /** Whose job the site says that it is, if it says so. */
  readonly owner: string | undefined;
}

const TEXT_FIELDS = ['description', 'body', 'text', 'content', 'details'];
const OWNER_FIELDS = ['user-id', 'user', 'owner-id', 'owner', 'account-id', 'account', 'posted-by', 'created-by'];
/** Longer references and titles are compared by this many characters. */
const MOST_OF_CLUE = 300;
const MOST_TITLE_WORDS = 40;

export const isTextField = (name: string): boolean => TEXT_FIELDS.includes(name.replaceAll('_', '-'));

export function featuresOfPosting(key: string, fields: Fields, rules: AdoptRules): PostingFeatures {
  const { referenceField, learnt } = rules;
  const sent = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const reference = (sent || key).slice(0, MOST_OF_CLUE);
  const field = referenceField ?? '';
  const values = Object.entries(fields).flatMap(([name, value]): [string, string[]][] =>
    isCompared(name, rules)
      ? [[nameForm(name), [...new Set([value, ...rewritings(learnt, name, value)].map(textDigest))]]]
      : [],
  );
  return {
    ...commonFeatures(fields, rules),
    reference,
    isReferenceSent: sent !== undefined && sent !== '',
    mayTakeForm: !isShownExactly(learnt, field),
    shownAs: [...new Set([foldSpace(reference), ...rewritings(learnt, field, reference)])],
    titles: titlesOf(fields, learnt),
    values: Object.fromEntries(values),
  };
}

function titlesOf(fields: Fields, learnt: LearntRewrites): string[] {
  const title = fieldOf(fields, 'title');
  if (title === undefined) return [];
  const forms = [title, ...rewritings(learnt, 'title', title)].map(titleForm);
  return [...new Set(forms.flatMap((form) => form ?? []))];
}

const titleForm = (title: string): string | undefined =>
  cluesOf({ title }, undefined).title?.slice(0, MOST_OF_CLUE) || undefined;

export function featuresOfJob(fields: Fields, rules: AdoptRules): JobFeatures {
  const { referenceField } = rules;
  const shown = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const values = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    isCompared(name, rules) ? [[nameForm(name), textDigest(value)]] : [],
  );
  const owner = OWNER_FIELDS.map((name) => fieldOf(fields, name)?.trim()).find(Boolean);
  return {
    ...commonFeatures(fields, rules),
    reference: shown ? shown.slice(0, MOST_OF_CLUE) : undefined,
    values: Object.fromEntries(values),
    owner: owner?.slice(0, MOST_OF_CLUE),
  };
}

/** Values in which a posting and a job of theirs agree at least once; by them candidates are found without comparing all. */
export interface Block {
  readonly kind: 'reference' | 'title' | 'text' | 'beginning';
  /** 48 bits. */
  readonly hash: number;
}

export function blocksOfPosting({ shownAs, values, ...features }: PostingFeatures): Block[] {
  const texts = Object.entries(values).flatMap(([name, digests]) => (isTextField(name) ? digests : []));
  return [...referenceBlocks(shownAs), ...contentBlocks(features, placesToFind(features.place), texts)];
}

/** Those of a posting that has its job: only its reference counts. */
export const blocksOfMapped = ({ shownAs }: Pick<PostingFeatures, 'shownAs'>): Block[] => referenceBlocks(shownAs);

export function blocksOfJob({ reference, values, ...features }: JobFeatures): Block[] {
  const texts = Object.entries(values).flatMap(([name, one]) => (isTextField(name) ? one : []));
  const { place } = features;
  const places = place.city === undefined ? [place] : [place, { ...place, city: ANY_CITY }];
  return [...referenceBlocks(reference === undefined ? [] : [reference]), ...contentBlocks(features, places, texts)];
}

/** Stands for the city of a job, for postings that name none. No name of a city is folded to it. */
const ANY_CITY = '*';

/** Lists may show a part of a job's place only, or none of it. */
const placesToFind = ({ city, state }: Place): Place[] => [
  { city, state },
  { city: undefined, state },
  { city, state: undefined },
  { city: undefined, state: undefined },
  ...(city === undefined ? [{ city: ANY_CITY, state }] : []),
];

const referenceBlocks = (references: readonly string[]): Block[] =>
  [...new Set(references.map(referenceForm))].map((form) => block('reference', form));

/** A title alone is shared by too many; its beginning finds titles that were cut or extended. */
const TITLE_BEGINNING = 20;

function contentBlocks(
  { title }: Pick<Features, 'title'>,
  places: readonly Place[],
  texts: readonly string[],
): Block[] {
  const found = texts.map((text) => block('text', text));
  if (title === undefined) return found;
  for (const { city = '', state = '' } of places) {
    found.push(block('title', [title, city, state].join('\n')));
    found.push(block('beginning', [title.slice(0, TITLE_BEGINNING), state].join('\n')));
  }
  return [...new Map(found.map((one) => [`${one.kind} ${one.hash}`, one])).values()];
}

const block = (kind: Block['kind'], text: string): Block => ({
  kind,
  hash: hash('sha1', text, 'buffer').readUIntBE(0, 6),
});

/** The reference, the title and the place are compared in their own ways, and whose job it is says nothing about its content. */
const isCompared = (name: string, { referenceField, stateField }: AdoptRules): boolean =>
  ![referenceField, stateField, 'title', 'location-city', ...OWNER_FIELDS].some(
    (other) => other !== undefined && nameForm(other) === nameForm(name),
  );

const nameForm = (name: string): string => name.replaceAll('_', '-');

function commonFeatures(fields: Fields, rules: AdoptRules): Features {
  const title = fieldOf(fields, 'title') ?? '';
  const text = TEXT_FIELDS.map((name) => fieldOf(fields, name)).find((value) => value?.trim());
  return {
    title: titleForm(title),
    titleWords: wordsOf(title, MOST_TITLE_WORDS),
    place: placeOf(fields, rules),
    sketch: text === undefined ? undefined : sketchOf(text),
  };
}
