// Decides as whom the server runs: Postgres refuses to run as root, so root has to hand it to somebody without privileges.
import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, statSync } from 'node:fs';

/** What `spawn` needs to run a program as somebody else; empty: as ourselves. */
export type ServerUser =
  | { readonly uid: number; readonly gid: number }
  | { readonly uid?: undefined; readonly gid?: undefined };

/** The user `nobody` of every Unix; it need not be in /etc/passwd to be used. */
const NOBODY = { uid: 65534, gid: 65534 };

/**
 * As root: the owner of the data, where there is some; else the machine's user `postgres`, who has no other rights
 * and shares the data with no other program; else `nobody`. Not as root: ourselves.
 */
export function chooseServerUser(dataFolder: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return postgresUser() ?? NOBODY;
}

/** Makes `path` the server's own. */
export function giveTo(user: ServerUser, path: string): void {
  if (user.uid !== undefined) chownSync(path, user.uid, user.gid);
}

/** Whether the server, running as `user`, could work in `folder`. Asked of the system itself: modes don't tell all. */
export function canEnter(user: ServerUser, folder: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/' }).status === 0;
}

function postgresUser(): ServerUser | undefined {
  const users = readFileSync('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return uid && gid && uid !== '0' ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
