// Finds a value in parsed JSON by a path such as `meta/next` or `links[rel=next]/href`.

interface Step {
  readonly name: string;
  /** A name and the text that it must have. */
  readonly condition?: readonly [string, string];
}

const STEP = /^([^[\]/]+)(?:\[([^=[\]]+)=([^\]]+)\])?$/;

/** `undefined` if it is not a path. */
export function parseJsonPath(path: string): readonly Step[] | undefined {
  const parts = path
    .replace(/^\$?[./]/, '')
    .split('/')
    .map((part) => STEP.exec(part));
  if (parts.some((part) => part === null)) return undefined;
  return parts.flatMap((part) => {
    const [, name = '', key, text] = part ?? [];
    return [{ name, condition: key === undefined || text === undefined ? undefined : ([key, text] as const) }];
  });
}

type Found =
  | { readonly kind: 'found'; readonly value: unknown }
  /** The last name is absent, or no member of a list has it. */
  | { readonly kind: 'absent' }
  /** What should contain the last name is absent. */
  | { readonly kind: 'astray'; readonly missing: string };

/** The first value at the path. Lists on the way are passed through. */
export function findAt(value: unknown, path: readonly Step[]): Found {
  const [step, ...rest] = path;
  if (step === undefined) return { kind: 'found', value };
  if (Array.isArray(value)) {
    const inner = value.map((each) => findAt(each, path));
    return inner.find(({ kind }) => kind === 'found') ?? { kind: 'absent' };
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step.name)) {
    return rest.length === 0 && typeof value === 'object' && value !== null
      ? { kind: 'absent' }
      : { kind: 'astray', missing: step.name };
  }
  const next = (value as Readonly<Record<string, unknown>>)[step.name];
  return findAt(step.condition === undefined ? next : matching(next, step.condition), rest);
}

function matching(value: unknown, [name, text]: readonly [string, string]): unknown {
  return [value].flat().filter((each) => {
    const found: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, name) : undefined;
    return found !== undefined && String(found) === text;
  });
}
