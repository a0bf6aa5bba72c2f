// What is compared of a posting and of a site job to tell whether they are the same, in a compact form.
import { hash } from 'node:crypto';
import type { Fields } from '../../posting/posting.ts';
import { cluesOf } from '../match-doubt.ts';
import { isShownExactly, type LearntRewrites, rewritings } from '../observe-values.ts';
import { bareForm, fieldOf, foldSpace, referenceForm } from '../same-value.ts';
import { type Place, type PlaceRules, placeOf } from './place-likeness.ts';
import { sketchOf, textDigest, wordsOf } from './text-likeness.ts';

/** How a site's jobs are compared with the postings of a feed. */
export interface AdoptRules extends PlaceRules {
  readonly referenceField: string | undefined;
  /** Jobs of the site are known to show references, so that one without is not certainly that of a posting which sent one. */
  readonly showsReferences?: boolean;
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
  /** The letters with which the text begins: sites cut texts. */
  readonly textStart: string | undefined;
  /** The bare form of a value, while both sides are in memory: it also shows what a site has cut off. */
  readonly bare?: (name: string) => string;
}

/** Forms are made once, as many are compared with many. */
export function bareForms(fields: Fields): (name: string) => string {
  const forms = new Map<string, string>();
  return (name) => {
    const form = forms.get(name) ?? bareForm((fieldOf(fields, name) ?? '').slice(0, MOST_OF_VALUE));
    forms.set(name, form);
    return form;
  };
}

const MOST_OF_VALUE = 20_000;

/** What is compared of a posting. */
export interface PostingFeatures extends Features {
  /** The reference; its key if it has none. */
  readonly reference: string;
  readonly isReferenceSent: boolean;
  /** Its job should show it. */
  readonly expectsReference: boolean;
  /** Whether the site may show the reference in another usual form. */
  readonly mayTakeForm: boolean;
  /** The reference with white space folded, and everything that the site is known to make of it. */
  readonly shownAs: readonly string[];
  /** The title, and everything that the site is known to make of it, in the same form. */
  readonly titles: readonly string[];
  /** Digests of each other field's value, and of everything that the site is known to make of it. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Names of the values that no two postings have by chance: an address, a text. */
  readonly identifying: readonly string[];
}

/** What is compared of a site job. */
export interface JobFeatures extends Features {
  readonly reference: string | undefined;
  /** The digest of each other field's value. */
  readonly values: Readonly<Record<string, string>>;
  /** Names of the values that no two postings have by chance: an address, a text. */
  readonly identifying: readonly string[];
  /** Whose job the site says that it is, if it says so. */
  readonly owner: string | undefined;
}

/** Titles are compared by their letters: sites re-case them and drop or add signs (`Driver (CDL-A)`, `Driver Cdl A`). */
const NO_LETTERS = /[^\p{L}\p{N}+#]+/gu;
const TEXT_FIELDS = ['description', 'body', 'text', 'content', 'details'];
const OWNER_FIELDS = ['user-id', 'user', 'owner-id', 'owner', 'account-id', 'account', 'posted-by', 'created-by'];
const TEXT_START = 80;
/** Tags and spaces included. */
const MOST_OF_START = 800;
/** Longer references and titles are compared by this many characters. */
const MOST_OF_CLUE = 300;
const MOST_TITLE_WORDS = 40;

export const isTextField = (name: string): boolean => TEXT_FIELDS.includes(nameForm(name));

/** A shorter value may be a choice of a list. */
const LEAST_TEXT = 60;
const ADDRESS = /:\/\/|^www\.|^[^\s@]+@[^\s@]+$/i;
const ID_NAME = /(^|-)(id|number|no|nr|ref|reference|code|key|guid|uuid|requisition)(-|$)/;

/** Whether no two postings have the value by chance. */
const isIdentifying = (name: string, value: string): boolean =>
  value.trim() !== '' &&
  (isTextField(name) || value.length >= LEAST_TEXT || ADDRESS.test(value.trim()) || ID_NAME.test(nameForm(name)));

/** Values of equal meaning have equal digests. */
const valueDigest = (value: string): string => textDigest(meaningOf(value.trim()));

const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)$/i;

/** Sites retype values: `20.50` as `20.5`, `true` as `1`, an instant in their own time zone. */
function meaningOf(value: string): string {
  if (/^[+-]?\d{1,30}(\.\d{1,30})?$/.test(value)) {
    const [whole = '', part = ''] = value.replace(/^\+/, '').split('.');
    const [sign, digits] = whole.startsWith('-') ? ['-', whole.slice(1)] : ['', whole];
    const decimals = part.replace(/0+$/, '');
    return sign + (digits.replace(/^0+(?=\d)/, '') || '0') + (decimals === '' ? '' : `.${decimals}`);
  }
  if (/^(true|false)$/i.test(value)) return value.toLowerCase() === 'true' ? '1' : '0';
  const [, date, time, zone] = INSTANT.exec(value) ?? [];
  if (zone === undefined) return /^https?:\/\//i.test(value) ? addressForm(value) : value;
  const at = Date.parse(`${date}T${time}${/^(z|utc)$/i.test(zone) ? 'Z' : zone}`);
  return Number.isNaN(at) ? value : new Date(at).toISOString().replace('T00:00:00.000Z', '');
}

/** Sites change the scheme of an address and drop a slash at its end. */
const addressForm = (address: string): string => address.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/+$/, '');

export function featuresOfPosting(key: string, fields: Fields, rules: AdoptRules): PostingFeatures {
  const { referenceField, learnt } = rules;
  const sent = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const reference = (sent || key).slice(0, MOST_OF_CLUE);
  const field = referenceField ?? '';
  const values = Object.entries(fields).flatMap(([name, value]): [string, string[]][] =>
    isCompared(name, rules) && value.trim() !== ''
      ? [[nameForm(name), [...new Set([value, ...rewritings(learnt, name, value)].map(valueDigest))]]]
      : [],
  );
  return {
    ...commonFeatures(fields, rules),
    reference,
    isReferenceSent: sent !== undefined && sent !== '',
    expectsReference: rules.showsReferences === true && sent !== undefined && sent !== '',
    mayTakeForm: !isShownExactly(learnt, field),
    shownAs: [...new Set([foldSpace(reference), ...rewritings(learnt, field, reference)])],
    titles: titlesOf(fields, learnt),
    values: Object.fromEntries(values),
    identifying: identifyingOf(values, fields),
  };
}

const identifyingOf = (values: readonly (readonly [string, unknown])[], fields: Fields): string[] =>
  values.flatMap(([name]) => (isIdentifying(name, fieldOf(fields, name) ?? '') ? name : []));

function titlesOf(fields: Fields, learnt: LearntRewrites): string[] {
  const title = fieldOf(fields, 'title');
  if (title === undefined) return [];
  const forms = [title, ...rewritings(learnt, 'title', title)].map(titleForm);
  return [...new Set(forms.flatMap((form) => form ?? []))];
}

function titleForm(title: string): string | undefined {
  const form = cluesOf({ title }, undefined).title;
  return (form?.replace(NO_LETTERS, '') || form)?.slice(0, MOST_OF_CLUE) || undefined;
}

/** @param isSketched without a sketch, which takes most of the time, the job can be looked up, but not compared */
export function featuresOfJob(fields: Fields, rules: AdoptRules, isSketched = true): JobFeatures {
  const { referenceField } = rules;
  const shown = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const values = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    isCompared(name, rules) && value.trim() !== '' ? [[nameForm(name), valueDigest(value)]] : [],
  );
  const owner = OWNER_FIELDS.map((name) => fieldOf(fields, name)?.trim()).find(Boolean);
  return {
    ...commonFeatures(fields, rules, isSketched),
    reference: shown ? shown.slice(0, MOST_OF_CLUE) : undefined,
    values: Object.fromEntries(values),
    identifying: identifyingOf(values, fields),
    owner: owner?.slice(0, MOST_OF_CLUE),
  };
}

/** Values in which a posting and a job of theirs agree at least once; by them candidates are found without comparing all. */
export interface Block {
  readonly kind: 'reference' | 'title' | 'text' | 'value' | 'beginning' | 'start';
  /** 48 bits. */
  readonly hash: number;
}

export function blocksOfPosting({ shownAs, ...features }: PostingFeatures): Block[] {
  return [
    ...referenceBlocks(shownAs),
    ...contentBlocks(features, placesToFind(features.place), Object.entries(features.values)),
  ];
}

/** Those of a posting that has its job: only its reference counts. */
export const blocksOfMapped = ({ shownAs }: Pick<PostingFeatures, 'shownAs'>): Block[] => referenceBlocks(shownAs);

export function blocksOfJob({ reference, ...features }: JobFeatures): Block[] {
  const values = Object.entries(features.values).map(([name, one]) => [name, [one]] as const);
  const own = referenceBlocks(reference === undefined ? [] : [reference]);
  const { place } = features;
  const places = place.city === undefined ? [place] : [place, { ...place, city: ANY_CITY }];
  return [...own, ...contentBlocks(features, places, values)];
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
/** The beginning of a text finds texts that were cut or edited further down. */
const LEAST_START = 20;
const MOST_START = 40;

function contentBlocks(
  { title, textStart, identifying }: Pick<PostingFeatures, 'title' | 'textStart' | 'identifying'>,
  places: readonly Place[],
  values: readonly (readonly [string, readonly string[]])[],
): Block[] {
  const found = values.flatMap(([name, digests]) => {
    if (isTextField(name)) return digests.map((text) => block('text', text));
    return identifying.includes(name) ? digests.map((one) => block('value', `${name}\n${one}`)) : [];
  });
  for (const { city = '', state = '' } of places) {
    if (textStart !== undefined && textStart.length >= LEAST_START)
      found.push(block('start', [textStart.slice(0, MOST_START), state].join('\n')));
    if (title === undefined) continue;
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

function commonFeatures(fields: Fields, rules: AdoptRules, isSketched = true): Features {
  const title = fieldOf(fields, 'title') ?? '';
  const text = TEXT_FIELDS.map((name) => fieldOf(fields, name)).find((value) => value?.trim());
  return {
    title: titleForm(title),
    titleWords: wordsOf(title, MOST_TITLE_WORDS),
    place: placeOf(fields, rules),
    sketch: text === undefined || !isSketched ? undefined : sketchOf(text),
    textStart: text === undefined ? undefined : startOf(text),
  };
}

/** The first letters of a text. */
function startOf(text: string): string {
  const lettersOf = (part: string) => bareForm(part).replace(NO_LETTERS, '').slice(0, TEXT_START);
  const start = lettersOf(text.slice(0, MOST_OF_START));
  return start.length < TEXT_START && text.length > MOST_OF_START ? lettersOf(text) : start;
}
