// `jobmirror feeds renew`: starts the days of postings on the site anew, also of those that have expired.
import { Command } from 'commander';
import { plural } from '../../plan/plural.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { renewAs } from '../../review/renew-postings.ts';
import { UserError } from '../../runtime/exit-status.ts';
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
        const keys = texts.map((text) => postingKey(text.trim()));
        const end = await renewAs(db, config, { feed, keys, actor: actorName(options.as) });
        if (end.kind === 'refused') throw new UserError(end.message);
        if (options.json === true) return printJson({ feed, renewed: keys.length });
        return printLine(
          `The days of ${plural(keys.length, 'posting')} begin anew. The next pull creates the jobs that are gone, if the feed has their postings.`,
        );
      }),
    );
}
