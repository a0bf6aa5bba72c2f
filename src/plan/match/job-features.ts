// What is compared of a posting and of a site job to tell whether they are the same, in a compact form.
import { hash } from 'node:crypto';
import type { Fields } from '../../posting/posting.ts';
import { isShownExactly, type LearntRewrites, rewritings } from '../observe-values.ts';
import {
  bareForm,
  fieldOf,
  foldSpace,
  meaningsOfSent,
  meaningsOfShown,
  referenceForm,
  type StatedTypes,
  typeOf,
} from '../same-meaning.ts';
import { type Place, type PlaceRules, placeOf, sketchOf, sketchParts, textDigest, wordsOf } from './likeness.ts';
import { cluesOf } from './taken-content.ts';

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
  /** Names of the values that tell whose job it is: a job that shows others is somebody else's. */
  readonly identifying: readonly string[];
  /** The ones that no two postings have by chance: a web address, a text, a value with the posting's own key. */
  readonly proving: readonly string[];
}

/** What is compared of a site job. */
export interface JobFeatures extends Features {
  readonly reference: string | undefined;
  /** Digests of everything that each other field's value means, by the type that the site states. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Names of the values by which a posting may be found. */
  readonly identifying: readonly string[];
  /** The user whose job it is, if the site says so. */
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
const WEB_ADDRESS = /:\/\/|^www\./i;
const MAIL_ADDRESS = /^[^\s@]+@[^\s@]+$/;
/** A shorter text may be a phrase that many use. */
const LEAST_LETTERS = 20;
/** A shorter key, or one without digits, may stand in a value by chance. */
const LEAST_KEY = 4;
/** A value that may be, or hold, the key of a posting. */
const MAY_HOLD_KEY = /^(?=.*\d)\S{4,60}$/;
const STARTS_AS_DATE = /^\d{4}-\d\d-\d\d(?:$|T)/;

/**
 * | value                                             | a job with it                       | a job with another   |
 * | ------------------------------------------------- | ----------------------------------- | -------------------- |
 * | a web address, a text, one with the posting's key | is the posting's, if no other has it | is somebody else's   |
 * | a mail address                                    | may be the posting's                | is somebody else's   |
 * | anything else: a postal code, an ID of a category | says nothing alone                  | says nothing alone   |
 */
function tellingOf(name: string, value: string, keys: readonly string[]): 'proof' | 'hint' | undefined {
  const text = value.trim();
  if (text === '') return undefined;
  if (isTextField(name)) return startOf(text).length >= LEAST_LETTERS ? 'proof' : 'hint';
  if (WEB_ADDRESS.test(text) || text.length >= LEAST_TEXT || keys.some((key) => holdsKey(text, key))) return 'proof';
  return MAIL_ADDRESS.test(text) ? 'hint' : undefined;
}

/** Whether a posting may be found by the value of a job. */
const mayFind = (name: string, value: string): boolean =>
  tellingOf(name, value, []) !== undefined || (MAY_HOLD_KEY.test(value.trim()) && !STARTS_AS_DATE.test(value.trim()));

/** Whether the key stands in the value, and not as a part of a longer word or number. */
function holdsKey(value: string, key: string): boolean {
  if (key.length < LEAST_KEY || !/\d/.test(key)) return false;
  const at = value.indexOf(key);
  return at >= 0 && !/[\p{L}\p{N}]$/u.test(value.slice(0, at)) && !/^[\p{L}\p{N}]/u.test(value.slice(at + key.length));
}

/** A short value other than a text is told from another by its signs as well: `-5`, `A+`. */
function digestsOf(name: string, meanings: readonly string[]): string[] {
  const isText = isTextField(name);
  return meanings.map((meaning) => {
    if (!meaning.startsWith(TEXT_MEANING)) return digest(meaning);
    const text = addressForm(meaning.slice(TEXT_MEANING.length));
    return isText || text.length >= LEAST_TEXT ? textDigest(text) : digest(`${TEXT_MEANING}${bareForm(text)}`);
  });
}

const TEXT_MEANING = 'text ';
const digest = (text: string): string => hash('sha1', text, 'base64').slice(0, 16);

/** Sites change the scheme of an address and drop a slash at its end. */
const addressForm = (text: string): string =>
  WEB_ADDRESS.test(text) ? text.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/+$/, '') : text;

export function featuresOfPosting(key: string, fields: Fields, rules: AdoptRules): PostingFeatures {
  const { referenceField, learnt } = rules;
  const sent = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const reference = (sent || key).slice(0, MOST_OF_CLUE);
  const field = referenceField ?? '';
  const values = Object.entries(fields).flatMap(([name, value]): [string, string[]][] =>
    isCompared(name, rules) && value.trim() !== ''
      ? [[nameForm(name), sentDigests(name, [value, ...rewritings(learnt, name, value)])]]
      : [],
  );
  const keys = [...new Set([key, reference])];
  const telling = values.map(([name]) => ({ name, tells: tellingOf(name, fieldOf(fields, name) ?? '', keys) }));
  return {
    ...commonFeatures(fields, rules),
    reference,
    isReferenceSent: sent !== undefined && sent !== '',
    expectsReference: rules.showsReferences === true && sent !== undefined && sent !== '',
    mayTakeForm: !isShownExactly(learnt, field),
    shownAs: [...new Set([foldSpace(reference), ...rewritings(learnt, field, reference)])],
    titles: titlesOf(fields, learnt),
    values: Object.fromEntries(values),
    identifying: telling.flatMap(({ name, tells }) => (tells === undefined ? [] : name)),
    proving: telling.flatMap(({ name, tells }) => (tells === 'proof' ? name : [])),
  };
}

const sentDigests = (name: string, values: readonly string[]): string[] => [
  ...new Set(digestsOf(name, values.flatMap(meaningsOfSent))),
];

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

export interface JobReading {
  /** What the site states about its values. */
  readonly types?: StatedTypes | undefined;
  /** Without a sketch, which takes most of the time, the job can be looked up, but not compared. */
  readonly isSketched?: boolean;
}

export function featuresOfJob(
  fields: Fields,
  rules: AdoptRules,
  { types, isSketched = true }: JobReading = {},
): JobFeatures {
  const { referenceField } = rules;
  const shown = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const values = Object.entries(fields).flatMap(([name, value]): [string, string[]][] =>
    isCompared(name, rules) && value.trim() !== ''
      ? [[nameForm(name), digestsOf(name, meaningsOfShown(value, typeOf(types, name)))]]
      : [],
  );
  const owner = OWNER_FIELDS.map((name) => fieldOf(fields, name)?.trim()).find(Boolean);
  return {
    ...commonFeatures(fields, rules, isSketched),
    reference: shown ? shown.slice(0, MOST_OF_CLUE) : undefined,
    values: Object.fromEntries(values),
    identifying: values.flatMap(([name]) => (mayFind(name, fieldOf(fields, name) ?? '') ? name : [])),
    owner: owner?.slice(0, MOST_OF_CLUE),
  };
}

/** Values in which a posting and a job of theirs agree at least once; by them candidates are found without comparing all. */
export interface BlockingKey {
  readonly kind: 'reference' | 'title' | 'text' | 'value' | 'beginning' | 'start' | 'parts' | 'place';
  /** 48 bits. */
  readonly hash: number;
}

export function blockingKeysOfPosting({ shownAs, ...features }: PostingFeatures): BlockingKey[] {
  return [
    ...referenceBlocks(shownAs),
    ...contentBlocks(features, placesToFind(features.place), Object.entries(features.values)),
    ...placeBlock(features.place),
  ];
}

/** The blocking keys of a posting that has its job: only its reference counts. */
export const blockingKeysOfMapped = ({ shownAs }: Pick<PostingFeatures, 'shownAs'>): BlockingKey[] =>
  referenceBlocks(shownAs);

export function blockingKeysOfJob({ reference, ...features }: JobFeatures): BlockingKey[] {
  const own = referenceBlocks(reference === undefined ? [] : [reference]);
  const { place } = features;
  const places = place.city === undefined ? [place] : [place, { ...place, city: ANY_CITY }];
  // Whose job it is, only its place tells.
  const isNameless = reference === undefined && features.identifying.every((name) => OWN_ADDRESSES.has(name));
  return [
    ...own,
    ...contentBlocks(features, places, Object.entries(features.values)),
    ...(isNameless ? placeBlock(place) : []),
  ];
}

/** Where sites show the address of the job itself. */
const OWN_ADDRESSES = new Set(['url', 'uri', 'link', 'href', 'self', 'permalink', 'html-url', 'job-url', 'public-url']);

/** Titles may be rewritten altogether. */
const placeBlock = ({ city, state }: Place): BlockingKey[] =>
  city === undefined || state === undefined ? [] : [block('place', [city, state].join('\n'))];

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

const referenceBlocks = (references: readonly string[]): BlockingKey[] =>
  [...new Set(references.map(referenceForm))].map((form) => block('reference', form));

/** A title alone is shared by too many; its beginning finds titles that were cut or extended. */
const TITLE_BEGINNING = 20;
/** The beginning of a text finds texts that were cut or edited further down. */
const LEAST_START = 20;
const MOST_START = 40;

function contentBlocks(
  { title, textStart, sketch, identifying }: Pick<PostingFeatures, 'title' | 'textStart' | 'sketch' | 'identifying'>,
  places: readonly Place[],
  values: readonly (readonly [string, readonly string[]])[],
): BlockingKey[] {
  const found = values.flatMap(([name, digests]) => {
    if (isTextField(name)) return digests.map((text) => block('text', text));
    return identifying.includes(name) ? digests.map((one) => block('value', `${name}\n${one}`)) : [];
  });
  if (textStart !== undefined && textStart.length >= LEAST_START && sketch !== undefined)
    for (const part of sketchParts(sketch)) found.push(block('parts', part));
  for (const { city = '', state = '' } of places) {
    if (textStart !== undefined && textStart.length >= LEAST_START)
      found.push(block('start', [textStart.slice(0, MOST_START), state].join('\n')));
    if (title === undefined) continue;
    found.push(block('title', [title, city, state].join('\n')));
    found.push(block('beginning', [title.slice(0, TITLE_BEGINNING), state].join('\n')));
  }
  return [...new Map(found.map((one) => [`${one.kind} ${one.hash}`, one])).values()];
}

const block = (kind: BlockingKey['kind'], text: string): BlockingKey => ({
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
