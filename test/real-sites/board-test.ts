// A test that may open mirrored boards, alone or concurrently with other tests; they close when the test ends.
import { test } from 'vitest';
import { type BoardOptions, type MirroredBoard, openMirroredBoard } from './mirrored-board.ts';
import { loadRails, type Rails } from './rails-board.ts';

interface Fixtures {
  /** For all tests of a file. */
  readonly rails: Rails;
  readonly open: (options?: BoardOptions) => Promise<MirroredBoard>;
}

export const boardTest = test.extend<Fixtures>({
  rails: [
    // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
    async ({}, use) => {
      const rails = loadRails();
      await use(rails);
      await rails.close();
    },
    { scope: 'file' },
  ],
  open: async ({ rails }, use) => {
    const opened: MirroredBoard[] = [];
    await use(async (options) => {
      const mirrored = await openMirroredBoard(rails, options);
      opened.push(mirrored);
      return mirrored;
    });
    for (const mirrored of opened) await mirrored.close();
  },
});
