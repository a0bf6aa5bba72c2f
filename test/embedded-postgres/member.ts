// Starts and controls processes of member-process.mjs.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import type { EmbeddedServerOptions } from '../../src/embedded-postgres/server.ts';
import { withoutSync } from './data-folder.ts';

type Message =
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'joined'; readonly url: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'left' };

/** One process that is, or is about to become, a member. */
export interface Member {
  readonly process: ChildProcess;
  readonly notices: string[];
  /** The URL it received; rejects with its error if it could not join. */
  joined(): Promise<string>;
  /** Resolves with the first notice, past or future, that matches. */
  noticed(pattern: RegExp): Promise<string>;
  /** Asks it to leave, and waits for its process to exit. */
  leave(): Promise<void>;
  /** Sends the signal and waits until the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface MemberOptions extends Omit<EmbeddedServerOptions, 'onNotice'> {
  /** Runs it as this user. */
  readonly uid?: number;
  /** Makes it the leader of a process group, as a shell does. */
  readonly ownGroup?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

const PROGRAM = join(packageRoot, 'test/embedded-postgres/member-process.mjs');

export function startMember(dataDir: string, { uid, ownGroup, env, ...options }: MemberOptions = {}): Member {
  const child = fork(PROGRAM, [dataDir, JSON.stringify({ ...withoutSync, ...options })], {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    cwd: packageRoot,
    detached: ownGroup ?? false,
    env: { ...process.env, ...env },
  });
  const messages: Message[] = [];
  const ended = once(child, 'exit');
  child.on('message', (message: Message) => {
    messages.push(message);
    child.emit('told');
  });
  const find = async <Found>(pick: (message: Message) => Found | undefined): Promise<Found> => {
    for (;;) {
      for (const message of messages) {
        const found = pick(message);
        if (found !== undefined) return found;
      }
      const ending = await Promise.race([once(child, 'told').then(() => undefined), ended]);
      if (ending) throw new Error(`the member ended with ${ending}, having said ${JSON.stringify(messages)}`);
    }
  };
  return {
    process: child,
    get notices() {
      return messages.flatMap((message) => (message.kind === 'notice' ? message.text : []));
    },
    joined: () =>
      find((message) => {
        if (message.kind === 'failed') throw new Error(message.message);
        return message.kind === 'joined' ? message.url : undefined;
      }),
    noticed: (pattern) =>
      find((message) => (message.kind === 'notice' && pattern.test(message.text) ? message.text : undefined)),
    leave: async () => {
      child.send('leave');
      await find((message) => (message.kind === 'left' ? true : undefined));
      await ended;
    },
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}
