// A test that may open mirrored boards, alone or concurrently with other tests; they close when the test ends.
import { test } from 'vitest';
import { type BoardOptions, type MirroredBoard, openMirroredBoard } from './mirrored-board.ts';

export const boardTest = test.extend<{ open: (options?: BoardOptions) => Promise<MirroredBoard> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  open: async ({}, use) => {
    const opened: MirroredBoard[] = [];
    await use(async (options) => {
      const mirrored = await openMirroredBoard(options);
      opened.push(mirrored);
      return mirrored;
    });
    for (const mirrored of opened) await mirrored.close();
  },
});
