// A test that may mirror into boards that show jobs to everybody, alone or concurrently with other tests; they close when the test ends.
import { test } from 'vitest';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { openPublicBoard, type PublicBoard } from '../support/public-board.ts';

export interface AtBoard {
  readonly mirror: Mirror;
  readonly board: PublicBoard;
}

/** Opens a board, and a mirror into it with short waits. */
export type OpenAtBoard = (options?: MirrorOptions) => Promise<AtBoard>;

const TOKEN = 'a-token-of-the-mirror';
const SHORT = {
  limits: '{ requests_per_second: 5000, concurrency: 2, timeout_seconds: 2 }',
  doubts: '{ resolve_after_seconds: 2.5, list_checks: 1 }',
};

export const boardTest = test.extend<{ open: OpenAtBoard }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  open: async ({}, use) => {
    const opened: AtBoard[] = [];
    await use(async (options = {}) => {
      const board = await openPublicBoard(TOKEN);
      const mirror = await openMirror({ ...options, site: { base_url: board.url, ...SHORT, ...options.site } });
      Object.assign(mirror.env, { BOARD_TOKEN: TOKEN });
      opened.push({ mirror, board });
      return { mirror, board };
    });
    for (const { mirror, board } of opened) {
      await mirror.close();
      await board[Symbol.asyncDispose]();
    }
  },
});
