// Chooses the user that the server runs as: Postgres refuses to run as root, so root must use an unprivileged user.
import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, statSync } from 'node:fs';

/** Options for `spawn` to run a program as another user; empty: as the current user. */
export type ServerUser =
  | { readonly uid: number; readonly gid: number }
  | { readonly uid?: undefined; readonly gid?: undefined };

/**
 * The environment of the programs that run as this user. It includes nothing from ours, which may hold the site's token: the
 * process list would show it to that user, for as long as the server runs.
 */
export const SERVER_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** The user `nobody`. It works even if it is not in /etc/passwd. */
const NOBODY = { uid: 65534, gid: 65534 };

/**
 * As root: the owner of existing data; else the machine's user `postgres`, which has no other rights and shares the data
 * with no other program; else `nobody`. Otherwise: the current user.
 */
export function chooseServerUser(dataFolder: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return postgresUser() ?? NOBODY;
}

/** Makes `user` the owner of `path`. */
export function giveOwnershipTo(user: ServerUser, path: string): void {
  if (user.uid !== undefined) chownSync(path, user.uid, user.gid);
}

/** Whether `user` can enter `folder`. Tries it, because the modes alone don't tell. */
export function canEnter(user: ServerUser, folder: string): boolean {
  const options = { ...user, cwd: '/', env: SERVER_ENVIRONMENT };
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], options).status === 0;
}

function postgresUser(): ServerUser | undefined {
  const users = readFileSync('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return uid && gid && uid !== '0' ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
