// Proposes the key and the fields of records with unknown names, by the names of their elements and by their texts.
import { textPathsIn } from '../posting/paths/path-census.ts';
import { elementsAt, isTreeList, parseValuePath, textsAt } from '../posting/paths/value-path.ts';
import type { RecordTree } from '../posting/posting.ts';
import type { UsPlace } from '../posting/steps/us-places.ts';

/** A rule as the configuration writes it. */
export type ProposedRule = string | Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];

export interface ProposedMapping {
  /** Several paths identify the records together; `undefined`: none do. */
  readonly key: string | readonly string[] | undefined;
  /** Several postings may come to share the key, although none do in the sample. */
  readonly isKeyOfKind: boolean;
  /** Paths that a person may choose the key from, the likeliest first; empty if there is a key. */
  readonly keyCandidates: readonly KeyCandidate[];
  readonly fields: Readonly<Record<string, ProposedRule>>;
  /** Path of the places, if some records have several. */
  readonly places: string | undefined;
}

export interface KeyCandidate {
  readonly path: string;
  /** How many different texts it has in the sampled records. */
  readonly distinct: number;
  readonly records: number;
}

export interface Places {
  readonly isState: (text: string) => boolean;
  readonly placeOf: (text: string) => UsPlace;
  /** Whether a text is the name of a known U.S. city, and nothing else. */
  readonly isCity: (text: string) => boolean;
  /** Whether a text names a country, in any usual way. */
  readonly isCountry: (text: string) => boolean;
}

/** What is known about a path of the records. */
interface PathFacts {
  readonly path: string;
  /** The last name, in lower case, without anything but letters and digits. */
  readonly name: string;
  /** The name before it. */
  readonly parent: string;
  /** All names before it. */
  readonly above: readonly string[];
  readonly texts: readonly string[];
  /** Share of the records that have a text there. */
  readonly share: number;
  readonly depth: number;
}

interface FieldPattern {
  /** Names from the likeliest to the least likely; a name may be `parent/name`. */
  readonly names: string;
  readonly suits: (facts: PathFacts) => boolean;
  /** Other names, if no path has one of these; by default those that contain one of the first four. */
  readonly like?: RegExp;
  /** A text under one of these other names must not be the same in all of three or more records: then it is the company's. */
  readonly differs?: true;
}

const URL_TEXT = /^https?:\/\/\S+$/i;
const FILE_TEXT = /\.(?:avif|gif|ico|jpe?g|mp4|png|svg|webp)(?:$|[?#])/i;
const isAddress = ({ texts }: PathFacts): boolean => mostly(texts, (text) => URL_TEXT.test(text));
const isNoAddress = (facts: PathFacts): boolean => !isAddress(facts);
const isSlug = ({ texts }: PathFacts): boolean => mostly(texts, (text) => /^[a-z\d]+(?:-[a-z\d]+)+$/.test(text));
const isShort = ({ texts }: PathFacts): boolean => mostly(texts, (text) => text.length <= 200 && !URL_TEXT.test(text));

const PATTERNS = {
  key: {
    names:
      'id jobid jid referencenumber jobreference jobref reference refnumber referenceid requisitionid requisitionnumber reqid partnerjobid jobnumber jobkey jobcode vacancyid positionid postingid externalid uniqueid uniqid guid uuid uid number nummer ref code stellenid offerid key shortcode slug objectid autoreq nid pid nr req',
    suits: isShort,
    like: /jobid|jobreference|referencenumber|^postid$|^(?!.*(?:former|parent|previous|related|similar)).*(?:advert|job|opening|opportunity|position|posting|req|requisition|vacancy)(?:id|number)$|^(?:ad|advert|announcement|ats|contest|control|display|exam|ext|external|job|joborder|jobs|offer|opening|opportunity|position|posting|public|ref|req|requisition|sender|source|unique|vacancy)+(?:id|key|code|no|nr|num|number|ref|reference|guid|uuid)$/,
  },
  title: {
    names:
      'externaltitle externaljobtitle publictitle title jobtitle positiontitle postingtitle vacancytitle position jobname headline name job role displayname titel stellentitel titulo titre intitule poste text vacancy cargo funktion bezeichnung beruf',
    suits: (facts: PathFacts) =>
      isShort(facts) && !isSlug(facts) && mostly(facts.texts, (text) => /\p{L}{2}/u.test(text)),
    like: /title(?!.*(?:code|id|slug|url)$)|(?:job|offer|opening|position|posting|requisition|role|vacancy)(?:label|name)$/,
  },
  description: {
    names:
      'externaldescription externaljobdescription jobdescriptionexternal publicdescription description jobdescription fulldescription descriptionhtml htmldescription longdescription body content jobbody details text jobad summary descriptionplain jobsummary shortdescription beschreibung stellenbeschreibung descripcion descricao omschrijving briefdescription teaser',
    suits: isNoAddress,
    like: /^(?!.*(?:categor|company|department|employer|location|short)).*description/,
  },
  'category-name': {
    names:
      'category jobcategory categoryname category/name department department/name departments/name jobfunction function industry team discipline jobfamily jobfamilygroup field sector kategorie abteilung categoria departement department/label categories categories/name careerfield',
    // The number of a category means nothing to readers.
    suits: (facts: PathFacts) => isShort(facts) && !mostly(facts.texts, (text) => /^\d+$/.test(text)),
    like: /^(?!.*(?:eeo|flsa|parent|pay|salary|tax|wage|worker)).*(?:categor(?:y|ies)|department|jobfamily|jobfunction)(?:desc|descr|description|label|name|title)?\d*$/,
  },
  'location-city': {
    names:
      'city town locationcity addresslocality locality cityname location/city municipality ort stadt ville ciudad cidade standort suburb plaats',
    suits: isShort,
  },
  'location-state': {
    names:
      'state statecode statename locationstate addressregion state/name state/code region province stateprovince stateorprovince uf estado bundesland location/state location/region',
    suits: isShort,
    like: /state(?!ment)|(?:province|region)(?:abbr(?:eviation)?|code|name)?$/,
  },
  place: {
    names:
      'location joblocation locationname location/name locationstext locations/name place citystate fulllocation primarylocation worklocation locationdisplay formattedlocation geoname address lieu lugar geo cityandstate office city',
    suits: isShort,
    like: /location|place(?!ment)/,
  },
  country: {
    names:
      'country countryname countrycode addresscountry location/country country/name country/code countryisocode nation land pais paese pays',
    suits: isShort,
  },
  'contact-web-address': {
    names:
      'applyurl applicationurl applylink url joburl jobdetailurl detailurl detailsurl link joblink absoluteurl hostedurl posturl positionuri publicurl canonicalurl href uri webaddress website applyuri apply referenceurl',
    suits: ({ texts }: PathFacts) => mostly(texts, (text) => URL_TEXT.test(text) && !FILE_TEXT.test(text)),
    like: /^(?!.*(?:admin|api|avatar|brand|callback|company|edit|employer|feed|icon|image|img|internal|logo|map|photo|picture|pixel|privacy|question|self|share|social|terms|track|video|webhook)).*(?:href|link|path|uri|url)$/,
    differs: true,
  },
  'contact-email-address': {
    names: 'email applyemail applicationemail applytoemail contactemail emailaddress contact mail recruiteremail',
    suits: ({ texts }: PathFacts) => mostly(texts, (text) => /^(?:mailto:)?[^\s@]+@[^\s@]+\.[^\s@]+$/i.test(text)),
    // Addresses of the people who manage the posting are not for applicants.
    like: /^(?!.*(?:approv|creat|hr|manager|modif|owner|updat)).*email/,
    differs: true,
  },
} as const satisfies Readonly<Record<string, FieldPattern>>;

/** Elements whose name, ID or address are not those of the posting. */
const OTHERS =
  /^(?:company|employer|organi[sz]ation|hiringorganization|hiring(?:lead|manager)|client|owner|publisher|recruiter|author|user|contact|department|departments|category|categories|office|offices|brand|metadata|customfields?|questions?|salary|tags?|team|\w*locations?|\w*address|country|language|compensation)$/;

/** Places of the employer, not of the posting. */
const ELSEWHERE =
  /^(?:company|client|employer|organi[sz]ation|hiringorganization|offices?|headquarters|recruiter|contact)$/;
const ELSEWHERE_NAMED =
  /^(?:agency|billing|client|company|contact|corporate|employer|headquarters?|hiringmanager|hq|organi[sz]ation|owner|recruiter)(?:address|city|country|location|place|province|region|state|town)/;

/** @param trees samples of the records. */
export function proposeMapping(
  trees: readonly RecordTree[],
  { isState, placeOf, isCity, isCountry }: Places,
): ProposedMapping {
  const all = factsOf(trees);
  const best = (field: keyof typeof PATTERNS, also: (facts: PathFacts) => boolean = () => true) => {
    const { suits, ...names } = PATTERNS[field];
    return bestPath(all, names, (facts) => suits(facts) && also(facts));
  };
  const isTitle = ({ parent }: PathFacts) => !OTHERS.test(parent);
  // A text that all records have in common is the title of the list, or of a link.
  const differs = ({ texts }: PathFacts) => trees.length < 3 || new Set(texts).size > 1;
  const bestTitle = (also: (facts: PathFacts) => boolean) =>
    best('title', (facts) => isTitle(facts) && also(facts) && differs(facts)) ??
    best('title', (facts) => isTitle(facts) && also(facts));
  const titles = bestTitle(() => true);
  const isKey = (facts: PathFacts) => facts.share === 1 && identifies(trees, facts, titles);
  const isOwnKey = (facts: PathFacts) =>
    isKey(facts) && !OTHERS.test(facts.parent) && !(ROW_NUMBER.test(facts.name) && countsRows(facts));
  // Of several, the one that differs even between the places of a posting, and is not the number of its row.
  const isSure = (facts: PathFacts) => isOwnKey(facts) && new Set(facts.texts).size === trees.length;
  const isOfPosting = (facts: PathFacts) => !OF_KIND.test(facts.name);
  const bestKey = (also: (facts: PathFacts) => boolean) =>
    best('key', (facts) => isSure(facts) && isOfPosting(facts) && !countsRows(facts) && also(facts)) ??
    best('key', (facts) => isSure(facts) && !countsRows(facts) && also(facts)) ??
    best('key', (facts) => isSure(facts) && isOfPosting(facts) && also(facts)) ??
    best('key', (facts) => isSure(facts) && also(facts)) ??
    best('key', (facts) => isOwnKey(facts) && isOfPosting(facts) && also(facts));
  // Several identifiers of one posting, such as Workday's, do not tell which one is meant.
  const key =
    bestKey(({ path }) => !hasSeveral(trees, path)) ?? bestKey(() => true) ?? best('contact-web-address', isKey);
  const title = bestTitle((facts) => facts.path !== key?.path);
  const description = best('description', ({ path }) => path !== title?.path) ?? longest(all);
  const address = best('contact-web-address', ({ parent }) => !OTHERS.test(parent) && parent !== 'self');
  const email = best('contact-email-address');
  const isHere = ({ above, name }: PathFacts) =>
    !above.some((each) => ELSEWHERE.test(each)) && !ELSEWHERE_NAMED.test(name);
  const [city, state] = [best('location-city', isHere), best('location-state', isHere)];
  const place = bestPlace();
  const country = best('country', (facts) => isHere(facts) && facts.texts.length > 0 && facts.texts.every(isCountry));
  const keyPaths = key?.path ?? (title === undefined ? undefined : combinedKey(trees, [title, city ?? place, state]));
  const rules = placeRules(city, state, place);
  return {
    key: keyPaths,
    isKeyOfKind: key !== undefined && !isOfPosting(key),
    places: pathOfSeveral(trees, Object.values(rules).flatMap(pathsOf)),
    keyCandidates: keyPaths === undefined ? candidatesOf(all, trees.length) : [],
    fields: {
      ...(key === undefined ? {} : { number: key.path }),
      ...(title === undefined ? {} : { title: title.path }),
      ...optional('category-name', best('category-name')),
      ...(description === undefined ? {} : { description: textRule(description) }),
      ...rules,
      ...(email === undefined ? {} : { 'contact-email-address': { from: email.path, as: 'email' } }),
      ...(address === undefined ? {} : { 'contact-web-address': { from: address.path, as: 'url' } }),
    },
  };

  /** The one in which the most states can be read. A city alone may have the name of a state: "Indiana". */
  function bestPlace(): PathFacts | undefined {
    const isPlace = (facts: PathFacts) => isHere(facts) && facts.path !== state?.path;
    const named = best('place', isPlace);
    const most = named === undefined ? 0 : statesIn(named);
    const place = best('place', (facts) => isPlace(facts) && statesIn(facts) > most) ?? named;
    return place === undefined || (place.path === city?.path && statesIn(place) === 0) ? undefined : place;
  }

  function statesIn({ path, texts }: PathFacts): number {
    const read = texts.map((text) => placeOf(text)).filter(({ state }) => state !== undefined);
    return path === city?.path
      ? read.filter((found) => 'city' in found && found.city !== undefined).length
      : read.length;
  }

  /** The state's own path if it has states; otherwise the place, if states can be read there. */
  function placeRules(
    city: PathFacts | undefined,
    state: PathFacts | undefined,
    place: PathFacts | undefined,
  ): Readonly<Record<string, ProposedRule>> {
    const namesState = (text: string): boolean => placeOf(text).state !== undefined;
    const hasStates = state?.texts.some(isState) === true;
    const readable = place !== undefined && statesIn(place) > 0;
    if (!hasStates) {
      const stateByTexts = byTexts(isState);
      // "New York" in a list of cities may be read as a state.
      if (stateByTexts !== undefined && (place === undefined || statesIn(place) < stateByTexts.texts.length))
        return placeRules(city, stateByTexts, place);
      const placeByTexts = readable ? undefined : byTexts(namesState);
      if (placeByTexts !== undefined) return placeRules(city, undefined, placeByTexts);
    }
    // One text for all, such as "post" or "college", may be the name of a small city by accident.
    const cityByTexts = () =>
      hasStates && place !== undefined && mostly(place.texts, isCity)
        ? place.path
        : byTexts(isCity, hasStates ? state : place, 2)?.path;
    if (place !== undefined && !hasStates && (readable || state === undefined)) {
      const ownCity = city === undefined && mostly(place.texts, isState) ? cityByTexts() : city?.path;
      const cityRule =
        ownCity === undefined || ownCity === place.path
          ? withCountry(place, { us_place: 'city', otherwise: 'default' })
          : ownCity;
      return { 'location-city': cityRule, 'location-state': withCountry(place, { us_place: 'state' }) };
    }
    const ofPlace = place?.texts.some((text) => text.includes(',') && namesState(text))
      ? withCountry(place, { us_place: 'city', otherwise: 'default' })
      : undefined;
    const cityRule = city?.path ?? ofPlace ?? (state === undefined ? undefined : cityByTexts());
    return {
      ...(cityRule === undefined ? {} : { 'location-city': cityRule }),
      ...(state === undefined ? {} : { 'location-state': withCountry(state, { as: 'us_state' }) }),
    };
  }

  /** The path with another name most of whose texts are states or places. "DE" alone may be a language, "CA" a country. */
  function byTexts(names: (text: string) => boolean, state?: PathFacts, different = 1): PathFacts | undefined {
    const named = ({ texts }: PathFacts) => texts.filter(names).length;
    return all
      .filter(
        (facts) =>
          ![title, city, state].some((known) => known?.path === facts.path) &&
          isShort(facts) &&
          isHere(facts) &&
          !NO_PLACES.test(facts.name) &&
          mostly(facts.texts, names) &&
          new Set(facts.texts).size >= different &&
          (new Set(facts.texts).size > 1 || facts.texts.some((text) => text.length > 2)),
      )
      .toSorted((a, b) => named(b) - named(a))[0];
  }

  /** A country beside it tells Georgia from Georgia, and "Munich, DE" from Delaware. */
  function withCountry({ path }: PathFacts, step: Readonly<Record<string, unknown>>): ProposedRule {
    const alone = { from: path, ...step };
    return country === undefined ? alone : [{ template: `{${path}}, {${country.path}}`, ...step }, alone];
  }
}

/** The paths that a rule of a place reads. */
const pathsOf = (rule: ProposedRule): readonly string[] =>
  typeof rule === 'string' ? [rule] : [rule].flat().flatMap(({ from }) => (typeof from === 'string' ? [from] : []));

/** The beginning of all these paths at which a record has several elements. */
function pathOfSeveral(trees: readonly RecordTree[], paths: readonly string[]): string | undefined {
  const [first = '', ...others] = paths;
  if (!/^[\w:/-]+$/.test(first)) return undefined;
  const names = first.split('/');
  return names
    .map((_, at) => names.slice(0, at + 1).join('/'))
    .filter((path) => others.every((other) => other === path || other.startsWith(`${path}/`)))
    .find((path) => hasSeveral(trees, path));
}

/** Whether a record has several elements there. */
export const hasSeveral = (trees: readonly RecordTree[], path: string): boolean =>
  trees.some((tree) => elementsAt(parseValuePath(path), tree).length > 1);

const NO_PLACES = /lang|locale|country(?!subdivision)|nation|currency|title|name|company|employer/;

/** Filled in every record, and short, come first; then the number of different texts decides. */
function candidatesOf(all: readonly PathFacts[], records: number): readonly KeyCandidate[] {
  const suitability = (facts: PathFacts) => (facts.share === 1 ? 2 : 0) + (isShort(facts) ? 1 : 0);
  const distinctOf = ({ texts }: PathFacts) => new Set(texts).size;
  return all
    .toSorted((a, b) => suitability(b) - suitability(a) || distinctOf(b) - distinctOf(a))
    .map((facts) => ({ path: facts.path, distinct: distinctOf(facts), records }));
}

/** The fewest of these paths that identify the records together. */
function combinedKey(
  trees: readonly RecordTree[],
  paths: readonly (PathFacts | undefined)[],
): readonly string[] | undefined {
  const parts = paths.flatMap((facts) => (facts?.share === 1 ? [facts.path] : []));
  const distinct = new Set(trees.map((tree) => JSON.stringify(tree))).size;
  for (let count = 2; count <= parts.length; count++) {
    const used = parts.slice(0, count);
    const parsed = used.map(parseValuePath);
    const keys = new Set(trees.map((tree) => JSON.stringify(parsed.map((path) => textsAt(path, tree)[0]))));
    if (keys.size >= distinct) return used;
  }
  return undefined;
}

/** The same posting may be listed twice, or once per place. Others that share a key are different postings. */
function identifies(trees: readonly RecordTree[], { path }: PathFacts, title: PathFacts | undefined): boolean {
  const [ofKey, ofTitle] = [path, title?.path].map((each) => (each === undefined ? undefined : parseValuePath(each)));
  const firsts = new Map<string, { readonly title: string; readonly record: string }>();
  let repeated = 0;
  let confused = 0;
  for (const tree of trees) {
    const key = (ofKey && textsAt(ofKey, tree)[0]?.trim()) ?? '';
    const now = { title: (ofTitle && textsAt(ofTitle, tree)[0]) ?? '', record: JSON.stringify(tree) };
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, now);
    else if (first.record !== now.record) {
      repeated++;
      if (first.title !== now.title) confused++;
    }
  }
  return repeated <= trees.length * MOST_REPEATED && confused <= trees.length * MOST_CONFUSED;
}

const MOST_REPEATED = 0.3;
const MOST_CONFUSED = 0.02;

/** Names that are those of a kind of job, or of a position that is filled again, in some systems, and of a posting in others. */
const OF_KIND = /^(?:job|position|role)?code$|^position(?:id|key|nbr|no|nr|num|number)$/;

const ROW_NUMBER = /^(?:n[or]|num|number|nummer)$/;

/** `1`, `2`, `3` or `row0`, `row1`, `row2`: an inserted row may change those of all that follow. */
const countsRows = ({ texts: [first = '', ...texts] }: PathFacts): boolean => {
  const [, before = '', start] = /^(.*\D)?([01])$/s.exec(first) ?? [];
  return (
    start !== undefined && texts.length > 1 && texts.every((text, at) => text === `${before}${at + 1 + Number(start)}`)
  );
};

/** Whether every record has a text of its own there. */
export function isUnique(trees: readonly RecordTree[], path: string): boolean {
  const parsed = parseValuePath(path);
  const texts = trees.map((tree) => textsAt(parsed, tree)[0]?.trim() ?? '');
  return !texts.includes('') && new Set(texts).size === texts.length;
}

const optional = (field: string, facts: PathFacts | undefined): Readonly<Record<string, ProposedRule>> =>
  facts === undefined ? {} : { [field]: facts.path };

/** HTML that is escaped as entities is unescaped. */
const textRule = ({ path, texts }: PathFacts): ProposedRule =>
  texts.some((text) => /&lt;\/?(?:p|br|ul|li|div|strong|b|h\d)\b/i.test(text)) ? { from: path, as: 'html' } : path;

/** What holds the text of a name in some systems: Drupal's `[{ value }]`, WordPress's `{ rendered }`, Workday's `@Descriptor`. */
const WRAPPERS =
  /^(?:value|rendered|raw|processed|label|@?descriptor|text|uri|#text|_text|\$t|\$|\$oid|_|__text|cdata|__cdata|#cdata-section|@value|@text)$/i;
/** What names the values of a list: `<param name="title">`. */
const NAMERS = [
  ...['@name', '@key', '@field', '@id', '@code', '@label', 'name', 'key', 'field', 'label', 'code'],
  ...['fieldName', 'QuestionName', 'Name', 'Key'],
];
const VALUES = ['value', '@value', 'text', 'content', 'values', 'Value'];

function factsOf(trees: readonly RecordTree[]): readonly PathFacts[] {
  const paths = new Set(trees.flatMap((tree) => [...textPathsIn(tree)]));
  const own = trees.some((tree) => typeof tree !== 'string' && '#text' in tree) ? ['#text'] : [];
  const plainFacts = [...paths, ...own].map((path) => {
    const steps = parseValuePath(path).map(({ name }) => name);
    const isWrapped = steps.length > 1 && WRAPPERS.test(steps.at(-1) ?? '');
    return factsAt(trees, path, isWrapped ? steps.slice(0, -1) : steps);
  });
  const named = new Map(trees.flatMap((tree) => [...namedValuesIn(tree, '', 0)]));
  // Names that a list gives to its values are less certain than those of elements.
  const namedFacts = [...named].map(([path, name]) => ({ ...factsAt(trees, path, [name]), depth: 3 }));
  return [...plainFacts, ...namedFacts];
}

/** @param steps the names by which the path is known. */
function factsAt(trees: readonly RecordTree[], path: string, steps: readonly string[]): PathFacts {
  const parsed = parseValuePath(path);
  let isReference = false;
  const taken = () => {
    isReference = true;
  };
  const found = trees.flatMap((tree) => {
    const text = textsAt(parsed, tree, 'plain', { takes: () => true, taken }).find((one) => one.trim() !== '');
    return text === undefined ? [] : [text.trim()];
  });
  // `department_id: [4, "Nursing"]` has the department, and `false` none.
  const texts = isReference ? found.filter((text) => text !== 'false') : found;
  const own = (step: string) => (isReference ? step.replace(/_id$/i, '') : step);
  const names = steps.map((step) =>
    plain(own(step.replace(/^(?:field|acf|cf|custom)_(?=.)/i, '').replace(/#\s*$/, 'number'))),
  );
  return {
    path,
    name: path === '#text' ? 'text' : (names.at(-1) ?? ''),
    parent: names.at(-2) ?? '',
    above: names.slice(0, -1),
    texts,
    share: texts.length / trees.length,
    depth: names.length,
  };
}

/** Path of a value that a list names → its name. */
function* namedValuesIn(tree: RecordTree, path: string, depth: number): Iterable<readonly [string, string]> {
  if (typeof tree === 'string' || depth > 3) return;
  for (const [step, child] of Object.entries(tree)) {
    if (typeof child === 'string' || !/^[\w.-]+$/.test(step)) continue;
    const here = path === '' ? step : `${path}/${step}`;
    const elements: readonly RecordTree[] = isTreeList(child) ? child : [child];
    for (const element of elements) {
      if (typeof element === 'string' || isTreeList(element)) continue;
      const namer = NAMERS.find((each) => typeof element[each] === 'string');
      const name = namer === undefined ? undefined : element[namer];
      const value = VALUES.find((each) => each in element) ?? ('#text' in element ? '' : undefined);
      if (typeof name === 'string' && value !== undefined && /^[\w .:-]{1,60}$/.test(name))
        yield [`${here}[${namer}='${name}']${value === '' ? '' : `/${value}`}`, name];
      else yield* namedValuesIn(element, here, depth + 1);
    }
  }
}

const plain = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z0-9]/g, '');

/** By the name's rank, then how often it is filled, then how deep it is. */
function bestPath(
  all: readonly PathFacts[],
  pattern: Omit<FieldPattern, 'suits'>,
  suits: (facts: PathFacts) => boolean,
): PathFacts | undefined {
  const names = pattern.names.split(' ');
  const rank = ({ name, parent }: PathFacts) => {
    const qualified = names.indexOf(`${parent}/${name}`);
    return qualified >= 0 ? qualified : names.indexOf(name);
  };
  const suited = all.filter((facts) => rank(facts) >= 0 && suits(facts));
  const score = (facts: PathFacts) => rank(facts) / names.length + (1 - facts.share) * 2 + facts.depth * 0.15;
  const [best] = suited.sort((a, b) => score(a) - score(b));
  if (best !== undefined) return best;
  // A part of a longer name: `strJobTitle`; of `jobCategory/name`, the name before.
  const similar = names.slice(0, 4).filter((name) => name.length > 3 && !name.includes('/'));
  const isSimilar = (name: string) => pattern.like?.test(name) ?? similar.some((part) => name.includes(part));
  const ownName = ({ name, parent }: PathFacts) => (name === 'name' ? parent : name);
  const isOfAll = ({ texts }: PathFacts) => texts.length > 2 && new Set(texts).size === 1;
  return all
    .filter((facts) => isSimilar(ownName(facts)) && suits(facts) && !(pattern.differs === true && isOfAll(facts)))
    .sort((a, b) => b.share - a.share || a.name.length - b.name.length || a.depth - b.depth)[0];
}

/** The path with the longest texts, if they are long enough for a description. */
function longest(all: readonly PathFacts[]): PathFacts | undefined {
  const lengthOf = ({ texts, share }: PathFacts) =>
    (share * texts.reduce((sum, { length }) => sum + length, 0)) / Math.max(1, texts.length);
  const [best] = all.filter(isNoAddress).toSorted((a, b) => lengthOf(b) - lengthOf(a));
  return best !== undefined && lengthOf(best) > 200 ? best : undefined;
}

const mostly = (texts: readonly string[], holds: (text: string) => boolean): boolean =>
  texts.length > 0 && texts.filter(holds).length >= texts.length * 0.6;
