// Adopts jobs for a command, which shows its progress on one line.
import type { Message } from '../plan/message.ts';
import { type Adopting, withAdopting } from '../runtime/adopting/open-adopting.ts';
import type { App } from '../runtime/app.ts';
import { type ProgressLine, startProgressLine } from '../telemetry/progress-line.ts';
import { commandWriter } from './command-line.ts';
import { say } from './write-action.ts';

export interface AdoptingCommand extends Adopting {
  readonly progress: ProgressLine;
  readonly say: (message: Message) => string;
}

/** Runs `work` while no other process pulls the feed or adopts jobs for it. */
export async function runAdopting(
  app: App,
  name: string,
  { config, signal }: { readonly config: string | undefined; readonly signal: AbortSignal },
  work: (adopting: AdoptingCommand) => Promise<void>,
): Promise<void> {
  const progress = startProgressLine();
  const write = (message: Message): string => say(message, commandWriter(config));
  try {
    await withAdopting(app, name, { signal, say: write, onProgress: (text) => progress.show(text) }, (adopting) =>
      work({ ...adopting, progress, say: write }),
    );
  } finally {
    progress.clear();
  }
}
