// What a test file opens before each of its tests, or before all of them, and closes afterwards.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

type Closable = { close(): unknown } | AsyncDisposable;

/** What `open` opens for each test of the file or suite, as if it were one object. What was opened last is closed first. */
export const openedForEach = <Opened extends Closable>(open: () => Promise<Opened>): Opened =>
  opened(open, beforeEach, afterEach);

/** The same for all tests of the file or suite together. */
export const openedForAll = <Opened extends Closable>(open: () => Promise<Opened>): Opened =>
  opened(open, beforeAll, afterAll);

type Hook = (hook: () => Promise<void>) => void;

function opened<Opened extends Closable>(open: () => Promise<Opened>, before: Hook, after: Hook): Opened {
  let present: Opened | undefined;
  before(async () => {
    present = await open();
  });
  after(async () => {
    const closing = present;
    present = undefined;
    if (closing !== undefined) await ('close' in closing ? closing.close() : closing[Symbol.asyncDispose]());
  });
  const now = (): Opened => {
    if (present === undefined) throw new Error('it is open only during tests');
    return present;
  };
  return new Proxy({} as Opened, {
    get(_target, name) {
      const value = Reflect.get(now(), name);
      return typeof value === 'function' ? value.bind(now()) : value;
    },
    set: (_target, name, value) => Reflect.set(now(), name, value),
    has: (_target, name) => Reflect.has(now(), name),
    ownKeys: () => Reflect.ownKeys(now()),
    // A proxy may only show properties that its target lacks as configurable.
    getOwnPropertyDescriptor(_target, name) {
      const property = Reflect.getOwnPropertyDescriptor(now(), name);
      return property && { ...property, configurable: true };
    },
  });
}
