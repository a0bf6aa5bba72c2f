// What undoing a pull would do, posting by posting, and the button that does exactly that.
import type { ShownUndoPlan } from '../../../operations/undo.ts';
import { plural } from '../../../plan/plural.ts';
import { differenceOf } from '../../../review/pulled-changes.ts';
import { pageAddress } from '../addresses.ts';
import { ShownDifference } from '../difference.tsx';
import { Csrf, Layout, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';

interface UndoPageProps {
  readonly visit: Visit;
  readonly plan: ShownUndoPlan;
}

export const UndoPage = ({ visit, plan }: UndoPageProps) => {
  const { prefix } = visit;
  const { pull, feed, restored, created_again: again, deleted, withdrawn, left_out: left, held, seen } = plan;
  const isNothing = restored + deleted + withdrawn === 0;
  return (
    <Layout title={`Undo pull ${pull}`} visit={visit} section="pulls">
      <p class="row">
        <a href={prefix + pageAddress.pull(pull)}>{`Pull ${pull}`}</a>
        <a href={prefix + pageAddress.feed(feed)}>{feed}</a>
        <span>
          {'of '}
          <When at={plan.started_at} />
        </span>
      </p>
      {isNothing ? (
        <p class="notice">
          {left === 0 ? 'There is nothing to undo: the site is as it was before.' : 'There is nothing to undo.'}
        </p>
      ) : (
        <ul>
          <li>{`${plural(again, 'job')} to create again, with new job IDs`}</li>
          <li>{`${plural(restored - again, 'job')} to set back`}</li>
          <li>{`${plural(deleted, 'job')} to delete, which the pull created`}</li>
          <li>{`${plural(withdrawn, 'change')} that ${withdrawn === 1 ? 'is' : 'are'} not sent any more`}</li>
          {left > 0 && <li>{`${plural(left, 'posting')} left as ${left === 1 ? 'it is' : 'they are'}`}</li>}
        </ul>
      )}
      {held !== null && <p class="notice">{`The deletes wait for approval: ${held}.`}</p>}
      {again > 0 && plan.creates_wait && (
        <p class="notice">
          {'The creates wait until somebody has decided about the changed keys of the feed. '}
          <a href={prefix + pageAddress.rekey(feed)}>Compare them here</a>
        </p>
      )}
      {!isNothing && (
        <form method="post" action={prefix + pageAddress.undoPull(pull)} class="panel" aria-label={`Undo pull ${pull}`}>
          <Csrf visit={visit} />
          <input type="hidden" name="seen" value={seen} />
          <p class="hint">
            {`Afterwards feed ${feed} is not pulled until somebody resumes it, because its source would bring all of this back. If the undo would do anything else by then, nothing is done.`}
          </p>
          <p>
            <button type="submit" class="danger">{`Undo pull ${pull}`}</button>
          </p>
        </form>
      )}
      {plan.lines.length > 0 && (
        <>
          <h2 id="lines">What happens to each posting</h2>
          <Lines prefix={prefix} lines={plan.lines} />
          {plan.more > 0 && <p>{`And ${plural(plan.more, 'more posting')}.`}</p>}
        </>
      )}
    </Layout>
  );
};

const WORDS = { create: 'create again', update: 'set back', delete: 'delete', none: 'leave as it is' } as const;

const Lines = ({ prefix, lines }: { prefix: string } & Pick<ShownUndoPlan, 'lines'>) => (
  <section class="scroll" tabindex={0} aria-labelledby="lines">
    <table class="stacked">
      <thead>
        <tr>
          <th scope="col">Posting</th>
          <th scope="col">What happens</th>
          <th scope="col">Now → afterwards</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr>
            <th scope="row" data-column="Posting">
              {line.key === null ? '–' : <a href={prefix + pageAddress.posting(line.feed, line.key)}>{line.key}</a>}
            </th>
            <td data-column="What happens">
              {WORDS[line.operation]}
              {line.reason !== undefined && <span class="detail">{line.reason}</span>}
            </td>
            <td data-column="Now → afterwards">
              {line.operation === 'update'
                ? Object.entries(line.fields).map(([field, { from, to }]) => (
                    <ShownDifference {...differenceOf(field, from ?? undefined, to ?? undefined)} />
                  ))
                : titleIn(line)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

function titleIn(line: ShownUndoPlan['lines'][number]): string {
  if (line.operation === 'none') return '';
  const { title } = line.fields;
  return title?.to || title?.from || '';
}
