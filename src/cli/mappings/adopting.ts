// Adopts jobs for a command, which shows its progress on one line.
import { type Adopting, withAdopting } from '../../runtime/adopting/open-adopting.ts';
import type { App } from '../../runtime/app.ts';
import { type ProgressLine, startProgressLine } from '../../telemetry/progress-line.ts';

export interface AdoptingCommand extends Adopting {
  readonly progress: ProgressLine;
}

/** Runs `work` while no other process pulls the feed or adopts jobs for it. */
export async function runAdopting(
  app: App,
  name: string,
  signal: AbortSignal,
  work: (adopting: AdoptingCommand) => Promise<void>,
): Promise<void> {
  const progress = startProgressLine();
  try {
    await withAdopting(app, name, { signal, onProgress: (text) => progress.show(text) }, (adopting) =>
      work({ ...adopting, progress }),
    );
  } finally {
    progress.clear();
  }
}
