// The life of a feed at a job site that Rails made, in each variant that its authors could have chosen.
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BoardOptions,
  boardPostings,
  checkBoard,
  type MirroredBoard,
  openMirroredBoard,
  settle,
} from './mirrored-board.ts';
import { railsForTests } from './rails-board.ts';

const rails = railsForTests();

let open: MirroredBoard | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});
async function start(options: BoardOptions = {}): Promise<MirroredBoard> {
  open = await openMirroredBoard({ ...options, site: { ...options.site } });
  return open;
}

describe.skipIf(!rails.available)(`a Rails site${rails.note}`, () => {
  it('mirrors', async () => {
    const mirrored = await start();
    const postings = boardPostings(5);
    await mirrored.writePostings(postings);
    expect(await settle(mirrored)).toMatchObject({ created: 5, status: 'mirrored' });
    await checkBoard(mirrored, postings);
  });
});
