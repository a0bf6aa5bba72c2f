// Decodes the site's XML of a job: its ID, its fields and when it was created.
import type { StatedTypes, ValueType } from '../../plan/same-meaning.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import type { SiteJob } from '../exchange.ts';
import { JOB, type Resource, readJobId, readJobUrl } from '../http/job-address.ts';
import { foldName, type XmlElement } from './xml-events.ts';
import { childrenOf, elementText, isNamed } from './xml-tree.ts';

/** A job as its XML shows it; the ID may have to come from elsewhere. */
export interface ReadJob extends Omit<SiteJob, 'siteJobId'> {
  readonly siteJobId?: SiteJobId;
  /** A second, different ID in the same element. */
  readonly otherId?: SiteJobId;
}

const urlNames = ['url', 'href'];

/**
 * Decodes the XML of one job (site-interface.md, section 2): root `job`, or a `job` directly in another root. Returns
 * `undefined` if it has no ID. `base` resolves a relative URL of the job.
 * @param asked the job that was asked for: sites may tell the ID of a job in its URL only, and show nothing but its fields.
 */
export function readSiteJob(
  root: XmlElement,
  base: URL,
  { resource = JOB, asked }: { readonly resource?: Resource; readonly asked?: SiteJobId } = {},
): SiteJob | undefined {
  const element = findJob(root, resource);
  const job = element && readJobElement(element, base, resource);
  const siteJobId = job?.siteJobId ?? (Object.keys(job?.fields ?? {}).length > 0 ? asked : undefined);
  return job === undefined || siteJobId === undefined ? undefined : { ...job, siteJobId };
}

/** The job of a document: its root, or the only one directly below. */
export function findJob(root: XmlElement, resource: Resource = JOB): XmlElement | undefined {
  const name = foldName(resource.element).toLowerCase();
  if (isNamed(root, name)) return root;
  const jobs = childrenOf(root).filter((child) => isNamed(child, name));
  if (jobs.length > 0) return jobs.length === 1 ? jobs[0] : undefined;
  if (isJobLike(root, resource)) return root;
  const alike = childrenOf(root).filter((child) => isJobLike(child, resource));
  return alike.length === 1 && isNamed(alike[0] as XmlElement, ...WRAPPERS) ? alike[0] : undefined;
}

/** Elements in which servers put a record, whatever it is. */
const WRAPPERS = ['data', 'item', 'list-item', 'entry', 'record', 'result', 'content', 'object'];

/** Fields of a job as the interface and presets name them. */
const USUAL_FIELDS = [
  'title',
  'number',
  'description',
  'category-name',
  'location-city',
  'location-state',
  'contact-email-address',
  'contact-web-address',
];
const FEWEST_FIELDS = 2;

/**
 * Whether an element of another name is a job all the same: servers that write whatever they have as XML name it `root`, `response`, `item`
 * or after a class. It has an ID, and several fields that only jobs have.
 */
export function isJobLike(element: XmlElement, resource: Resource = JOB): boolean {
  const ids = idNames(resource);
  const hasId =
    ids.some((id) => element.attributes.has(id)) || childrenOf(element).some((child) => isNamed(child, ...ids));
  return hasId && !isNamed(element, 'html', 'error', 'errors') && showsFields(element, resource);
}

const idNames = ({ element }: Resource): readonly string[] => ['id', `${foldName(element).toLowerCase()}-id`];

/** Whether it has several fields that only jobs have. */
export function showsFields(element: XmlElement, resource: Resource): boolean {
  const { fields = [] } = resource;
  const ids = idNames(resource);
  const children = childrenOf(element);
  const own = fields.length === 0 ? USUAL_FIELDS : fields;
  const known = new Set(own.map((field) => foldName(field).toLowerCase()).filter((field) => !ids.includes(field)));
  const shown = children.flatMap((child) => (childrenOf(child).length === 0 ? foldName(child.name).toLowerCase() : []));
  return shown.filter((field, at) => known.has(field) && shown.indexOf(field) === at).length >= FEWEST_FIELDS;
}

/** Reads a `job` element. The ID is its `id` or `job_id`, element or attribute, which may be an address, or else the last part of its `href`. */
export function readJobElement(element: XmlElement, base: URL, resource: Resource = JOB): ReadJob {
  const { fields, types } = readFields(element);
  const named = (names: readonly string[]): string | undefined => {
    const name = names.find((candidate) => fields.has(candidate) || element.attributes.has(candidate));
    return name === undefined ? undefined : (fields.get(name) ?? element.attributes.get(name));
  };
  const url = named(urlNames);
  const address = url === undefined ? {} : readJobUrl(url, base, resource);
  const readId = (text: string | undefined): SiteJobId | undefined =>
    (/^\s*(https?:\/)?\/\S/i.test(text ?? '') ? readJobUrl(text ?? '', base, resource).siteJobId : undefined) ??
    readJobId(text);
  // `jobId` is often the reference of a posting.
  const id = readId(named(['id', `${foldName(resource.element)}-id`]) ?? inOtherCase(fields, 'id'));
  return {
    siteJobId: id ?? address.siteJobId,
    otherId: id === undefined ? undefined : readOtherId(element, id, readId),
    url: address.url,
    // `fromEntries` defines properties, so no field name can reach a prototype.
    fields: Object.fromEntries(fields),
    ...(types.size === 0 ? {} : { types: Object.fromEntries(types) as StatedTypes }),
    createdAt: readTime(fields.get('created-at') ?? inOtherCase(fields, 'created-at')),
  };
}

/** The value of a name as .NET, Java and Go spell it by default: `Id`, `createdAt`. */
function inOtherCase(fields: ReadonlyMap<string, string>, name: string): string | undefined {
  for (const [other, value] of fields)
    if (other.replace(/(\p{Ll})(\p{Lu})/gu, '$1-$2').toLowerCase() === name) return value;
  return undefined;
}

/** `id` may be both an element and an attribute, and may appear more than once. */
function readOtherId(
  element: XmlElement,
  id: SiteJobId,
  readId: (text: string | undefined) => SiteJobId | undefined,
): SiteJobId | undefined {
  const elements = childrenOf(element).filter(
    (child) => foldName(child.name) === 'id' && childrenOf(child).length === 0,
  );
  return [...elements.map(elementText), element.attributes.get('id')].map(readId).find((one) => one && one !== id);
}

interface ReadFields {
  readonly fields: Map<string, string>;
  readonly types: Map<string, ValueType>;
}

// Children with child elements are not fields; one marked as nil has no value. The first of each name counts.
function readFields(element: XmlElement): ReadFields {
  const read: ReadFields = { fields: new Map(), types: new Map() };
  const referred = new Map<string, string>();
  for (const child of childrenOf(element)) {
    const name = foldName(child.name);
    if (read.fields.has(name) || childrenOf(child).length > 0) continue;
    const text = elementText(child);
    const record = text.trim() === '' ? recordNamedBy(child) : undefined;
    if (record !== undefined) {
      if (record.name !== undefined) read.fields.set(name, record.name);
      if (record.id !== undefined && !referred.has(`${name}-id`)) referred.set(`${name}-id`, record.id);
      continue;
    }
    const type = child.attributes.size === 0 ? undefined : statedType(child.attributes);
    if (type === undefined) read.types.delete(name);
    else read.types.set(name, type);
    if (type !== 'nil') read.fields.set(name, text);
  }
  for (const [name, id] of referred) if (!read.fields.has(name)) read.fields.set(name, id);
  return read;
}

/** The names of types in Rails (`type="datetime"`) and in XML Schema (`xsi:type="xs:dateTime"`). */
const TYPES: ReadonlyMap<string, ValueType> = new Map([
  ...['string', 'text', 'symbol', 'token', 'normalizedstring', 'anyuri', 'uuid'].map((name) => [name, 'text'] as const),
  ...[
    'integer',
    'int',
    'long',
    'short',
    'bigint',
    'biginteger',
    'fixnum',
    'decimal',
    'bigdecimal',
    'numeric',
    'number',
  ].map((name) => [name, 'number'] as const),
  ...['float', 'double', 'real'].map((name) => [name, 'float'] as const),
  ...['boolean', 'bool'].map((name) => [name, 'boolean'] as const),
  ['date', 'date'],
  ...['datetime', 'timestamp', 'timestamptz', 'time'].map((name) => [name, 'instant'] as const),
]);

function statedType(attributes: XmlElement['attributes']): ValueType | undefined {
  const nil = attributes.get('nil');
  if (nil === 'true' || nil === '1') return 'nil';
  const name = attributes.get('type');
  if (name === undefined) return undefined;
  return TYPES.get(name) ?? TYPES.get(name.replace(/^.*:/, '').replace(/[-_ ]/g, '').toLowerCase());
}

/** An empty element may name another record of the site: `<category id="3" name="Health"/>` is what was sent as `category_id`. */
function recordNamedBy({ attributes }: XmlElement): { readonly id?: string; readonly name?: string } | undefined {
  const [id, name] = [attributes.get('id'), attributes.get('name')];
  return id === undefined && name === undefined ? undefined : { id, name };
}

const isoTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)$/i;
const mailTime = /^(?:\w{3}, )?\d{1,2} \w{3} \d{4} \d\d:\d\d(?::\d\d)? (?:GMT|UTC|[+-]\d{4})$/i;

/**
 * Reads a time that names its zone: ISO 8601 (also with a space, `2024-03-01 12:00:00 UTC`) or RFC 5322. A time without
 * a zone could be hours off, so it is ignored: a wrong time would hide a job that is searched by it.
 */
export function readTime(text: string | undefined): Date | undefined {
  const trimmed = text?.trim() ?? '';
  const iso = isoTime.exec(trimmed);
  const zone = iso?.[3]?.replace(/^(UTC|GMT)$/i, 'Z').replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  if (!iso && !mailTime.test(trimmed)) return undefined;
  const time = new Date(iso ? `${iso[1]}T${iso[2]}${zone?.toUpperCase()}` : trimmed);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
