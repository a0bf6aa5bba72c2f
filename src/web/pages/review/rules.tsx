// All rules: what is done with new entries of groups without asking again, by whom and since when.
import type { z } from 'zod';
import type { ruleOutput } from '../../../operations/rules.ts';
import { describeDecision } from '../../../operations/rules.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, mayReview, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';
import { EndRule } from './rules-of-group.tsx';

export const Rules = ({ visit, rules }: { visit: Visit; rules: readonly z.output<typeof ruleOutput>[] }) => {
  const { prefix } = visit;
  return (
    <Layout title="Rules" visit={visit} section="review">
      <p>
        <a href={prefix + pageAddress.review()}>All groups</a>
      </p>
      {rules.length === 0 ? (
        <p>There are no rules. An action on a group can make one for its new entries.</p>
      ) : (
        <section class="scroll" tabindex={0} aria-label="Rules, those in force first">
          <table>
            <caption class="hint">Those in force first, then the newest</caption>
            <thead>
              <tr>
                <th scope="col" class="number">
                  Rule
                </th>
                <th scope="col">Group</th>
                <th scope="col">Feed</th>
                <th scope="col">Does</th>
                <th scope="col">By</th>
                <th scope="col">Since</th>
                <th scope="col" class="number">
                  Done
                </th>
                <th scope="col" class="number">
                  Left alone
                </th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {rules.map((rule) => (
                <tr>
                  <th scope="row" class="number">
                    {rule.rule}
                  </th>
                  <td>
                    <a href={prefix + pageAddress.entries({ group: rule.group, feed: rule.feed ?? undefined })}>
                      {excerpt(`${rule.field === null ? '' : `${rule.field}: `}${rule.message}`)}
                    </a>
                  </td>
                  <td>{rule.feed ?? 'all'}</td>
                  <td>{excerpt(describeDecision(rule), 300)}</td>
                  <td>{rule.actor}</td>
                  <td>
                    <When at={rule.made_at} />
                  </td>
                  <td class="number">{rule.done}</td>
                  <td class="number">{rule.left_alone}</td>
                  <td>
                    {rule.ended_at !== null ? (
                      <>
                        {'ended by '}
                        {rule.ended_by ?? 'somebody'}
                        {', '}
                        <When at={rule.ended_at} />
                      </>
                    ) : mayReview(visit) ? (
                      <EndRule visit={visit} rule={rule.rule} />
                    ) : (
                      'in force'
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Layout>
  );
};
