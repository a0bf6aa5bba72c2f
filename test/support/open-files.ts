// Which files this process has open.
import { existsSync, readdirSync, readlinkSync } from 'node:fs';

const FOLDER = '/proc/self/fd';

/** Only Linux tells. */
export const canListOpenFiles = existsSync(FOLDER);

export const isFileOpen = (path: string): boolean =>
  readdirSync(FOLDER).some((fd) => {
    try {
      return readlinkSync(`${FOLDER}/${fd}`) === path;
    } catch {
      // It was closed meanwhile.
      return false;
    }
  });
