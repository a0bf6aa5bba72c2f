// `jobmirror feeds renew`: starts the days of postings on the site anew, also of those that have expired.
import { Command } from 'commander';
import { plural } from '../../plan/plural.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { lockFeed } from '../../store/locks/feed-locks.ts';
import { renewPostings } from '../../store/pull/posting-expiry.ts';
import { auditActions } from '../../store/review/audit.ts';
import { printJson, printLine } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { knownFeed } from '../feed-name.ts';
import { withApp } from '../with-app.ts';

export function renewCommand(): Command {
  return new Command('renew')
    .description(
      'start the days of postings on the site anew (expire_after_days); those that have expired get jobs again',
    )
    .argument('<feed>', 'name of the feed')
    .argument('<key...>', 'keys of the postings, exactly as in the feed')
    .action((name: string, texts: string[], options: { readonly json?: boolean; readonly as?: string }) =>
      withApp(options, async ({ db, config }) => {
        const feed = await knownFeed(db, config, name);
        if (config.feeds.get(feed)?.expireAfterDays === undefined) {
          throw new UserError(`postings of feed ${feed} do not expire: it has no expire_after_days in ${config.path}`);
        }
        const keys = texts.map((text) => postingKey(text.trim()));
        const lock = await lockFeed(db, feed);
        if (lock === undefined)
          throw new UserError(`feed ${feed} is being pulled right now; try again when that has ended`);
        try {
          await db.transaction(async (tx) => {
            const unknown = await renewPostings(tx, feed, keys);
            if (unknown.length > 0) {
              const which = `${plural(unknown.length, 'posting')} of feed ${feed} neither have a job nor have expired`;
              throw new UserError(`${which}: ${unknown.slice(0, 10).join(', ')}. Nothing was changed`);
            }
            const detail = {};
            await auditActions(
              tx,
              actorName(options.as),
              'renew',
              keys.map((key) => ({ feed, key, detail })),
            );
          });
        } finally {
          await lock.release();
        }
        if (options.json === true) return printJson({ feed, renewed: keys.length });
        return printLine(
          `The days of ${plural(keys.length, 'posting')} begin anew. The next pull creates the jobs that are gone, if the feed has their postings.`,
        );
      }),
    );
}
