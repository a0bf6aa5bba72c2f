// Starts a pull for somebody who asks for it, on a page or through the API.
import type { FeedName } from '../posting/identifiers.ts';
import type { App } from '../runtime/app.ts';
import type { PullStart } from '../runtime/schedule/pull-now.ts';
import { auditAction } from '../store/access/audit.ts';
import type { Control } from './control.ts';

export interface PullAsker {
  readonly app: App;
  readonly control: Control;
  readonly actor: string;
}

export async function startPullFor({ app, control, actor }: PullAsker, feed: FeedName): Promise<PullStart> {
  const start = await control.pull(feed);
  if (start.kind === 'started') {
    await auditAction(app.db, { actor, action: 'pull', feed, detail: { pull: start.pull } });
  }
  return start;
}
