// Lists the paths that a mapping reads values from, each with the setting that names it.
import type { Condition, ConditionGroups } from '../conditions.ts';
import { hasDateTest } from '../conditions.ts';
import type { FieldMapping, FieldRule, ValueSource } from '../field-mapping.ts';
import { OWN_PLACE } from '../places.ts';
import { parseValuePath, type ValuePath } from './value-path.ts';

export interface MappingPath {
  /** The site field; `undefined`: it is part of the key. */
  readonly field: string | undefined;
  /** As it is written, but relative to the record. */
  readonly path: string;
  readonly parsed: ValuePath;
}

/** All paths of the key and the fields, each once per field; not those of conditions and expressions. */
export function pathsOf({ key, fields }: Pick<FieldMapping, 'key' | 'fields'>): readonly MappingPath[] {
  const written = [
    ...key.paths.map((path) => ({ field: undefined, path })),
    ...Object.entries(fields).flatMap(([field, rules]) =>
      [rules].flat().flatMap((rule: FieldRule) => pathsIn(rule.source).map((path) => ({ field, path }))),
    ),
  ];
  const unique = new Map(written.map((one) => [`${one.field ?? ''} ${one.path}`, one]));
  return [...unique.values()].map((one) => ({ ...one, parsed: parseValuePath(one.path) }));
}

/** A condition on dates, with the setting that has it. */
export interface DateCondition {
  readonly setting: string;
  readonly condition: Condition;
}

/** The mapping's conditions on dates. With any, the same record may become something else later. */
export function dateConditionsOf({
  skip = [],
  fields,
}: Pick<FieldMapping, 'fields' | 'skip'>): readonly DateCondition[] {
  const of = (setting: string, groups: ConditionGroups) =>
    groups.flat().flatMap((condition) => (hasDateTest(condition) ? [{ setting, condition }] : []));
  const ofFields = Object.entries(fields).flatMap(([field, rules]) =>
    [rules].flat().flatMap(({ when = [] }: FieldRule) => of(`fields.${field}.when`, when)),
  );
  return [...of('skip', skip), ...ofFields];
}

/**
 * The paths that may lead into a part of the record, those of conditions included; `undefined` if an expression may read it.
 * @param part its name.
 */
export function pathsInto(part: string, spec: Pick<FieldMapping, 'key' | 'fields' | 'skip' | 'places'>) {
  const rules = Object.values(spec.fields).flat();
  if (rules.some(({ source }: FieldRule) => source.kind === 'jsonata' && source.expression.includes(part))) {
    return undefined;
  }
  const conditions = [spec.skip ?? [], ...rules.map(({ when = [] }: FieldRule) => when)].flat(2);
  const others = [...conditions.map(({ path }) => path), ...placePaths(spec.places)].map((path) => ({
    field: undefined,
    path,
    parsed: parseValuePath(path),
  }));
  const into = ({ parsed: [first] }: MappingPath) => first?.name === part || first?.name === '*';
  return [...pathsOf(spec), ...others].filter(into);
}

const placePaths = (places: FieldMapping['places']): readonly string[] =>
  [places?.path ?? []].flat().filter((path) => path !== OWN_PLACE);

/** What of a mapping may read a part of the record to find the places of the record, or to tell them apart. */
export type PlacesReader =
  | { readonly kind: 'places'; readonly path: string }
  | { readonly kind: 'field'; readonly field: string; readonly path: string }
  /** An expression may read anything. */
  | { readonly kind: 'expression'; readonly field: string };

/** @param part its name. `undefined`: the rest of the record alone decides which postings `places: each` makes of it. */
export function readerOfPlacesIn(
  part: string,
  { places, fields }: Pick<FieldMapping, 'fields' | 'places'>,
): PlacesReader | undefined {
  if (places === undefined) return undefined;
  const [inPlaces] = pathsInto(part, { key: NO_KEY, fields: {}, places }) ?? [];
  if (inPlaces !== undefined) return { kind: 'places', path: inPlaces.path };
  for (const field of places.fields ?? []) {
    const rules = fields[field] ?? [];
    if ([rules].flat().some(({ source }: FieldRule) => source.kind === 'jsonata')) return { kind: 'expression', field };
    const [read] = pathsInto(part, { key: NO_KEY, fields: { [field]: rules } }) ?? [];
    if (read !== undefined) return { kind: 'field', field, path: read.path };
  }
  return undefined;
}

const NO_KEY = { paths: [] };

function pathsIn(source: ValueSource): readonly string[] {
  switch (source.kind) {
    case 'paths':
      return source.paths;
    case 'template':
      return pathsInTemplate(source.template);
    case 'sections':
      return source.sections.flatMap(({ each, templates }) =>
        templates.flatMap(pathsInTemplate).map((path) => (each === undefined ? path : `${each}/${path}`)),
      );
    case 'constant':
    case 'jsonata':
      return [];
  }
}

const pathsInTemplate = (template: string): readonly string[] =>
  [...template.matchAll(/\{([^{}]*)\}/g)].map(([, path = '']) => path);
