// Whoever asks for the same at the same time gets one reading; what changes something is done for each.
import { expect, it } from 'vitest';
import { z } from 'zod';
import { listOperation, type OperationContext, operation, pageOperation } from '../../src/operations/operation.ts';

const config = {};
const asked = (actor: string): OperationContext => ({ app: { config }, actor }) as unknown as OperationContext;

/** Ends each reading only when told to. */
function readings() {
  const ends: (() => void)[] = [];
  return {
    begin: () => new Promise<number>((resolve) => ends.push(() => resolve(ends.length))),
    endAll: async () => {
      for (let ended = 0; ended < ends.length; ended++) {
        ends[ended]?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      return ends.length;
    },
  };
}

const described = { path: '/x', summary: 'Reads', input: z.object({ feed: z.string() }) };

it('those who ask while one is read share the next reading', async () => {
  const { begin, endAll } = readings();
  const read = operation({ ...described, id: 'readShared', scope: 'read', output: z.number(), run: begin });
  const answers = [1, 2, 3].map((n) => read.run({ feed: 'acme' }, asked(`reader ${n}`)));
  const other = read.run({ feed: 'other' }, asked('reader 4'));
  expect(await endAll()).toBe(3);
  await Promise.all([...answers, other]);
});

it('pages of lists are shared if they begin at the same place', async () => {
  const { begin, endAll } = readings();
  const place = z.bigint();
  const list = listOperation({
    ...described,
    id: 'listShared',
    scope: 'read',
    item: z.number(),
    place,
    placeOf: () => 1n,
    run: async () => [await begin()],
  });
  const page = pageOperation({
    ...described,
    id: 'pageShared',
    scope: 'read',
    output: z.object({ items: z.array(z.number()) }),
    place,
    run: async () => ({ shown: { items: [await begin()] }, next: undefined }),
  });
  const at = (after: bigint) => [1, 2].map(() => list.readPage({ feed: 'acme' }, { limit: 5, after }, asked('a')));
  const ofPage = [1, 2, 3].map(() => page.run({ feed: 'acme' }, { limit: 5, after: 1n }, asked('a')));
  const all = [...at(1n), ...at(2n), ...ofPage];
  expect(await endAll()).toBe(6);
  await Promise.all(all);
});

it.each(['review', 'configure'] as const)('what needs the scope %s is done for each', async (scope) => {
  const { begin, endAll } = readings();
  const act = operation({ ...described, id: `do ${scope}`, scope, output: z.number(), run: begin });
  const done = [1, 2, 3].map(() => act.run({ feed: 'acme' }, asked('a')));
  expect(await endAll()).toBe(3);
  await Promise.all(done);
});
