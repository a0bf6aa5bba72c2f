// The rules in force for new entries of one group.

import { describeDecision } from '../../../operations/rules.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import type { ListedRule } from '../../../store/review/rules.ts';
import { pageAddress, type ReviewSelection } from '../addresses.ts';
import { Csrf, mayReview, type Visit } from '../layout.tsx';
import { SelectionFields } from './selection.tsx';

export interface RulesOfGroupProps {
  readonly visit: Visit;
  readonly texts: ReviewSelection;
  readonly rules: readonly ListedRule[];
}

export const RulesOfGroup = ({ visit, texts, rules }: RulesOfGroupProps) =>
  rules.length === 0 ? null : (
    <section aria-labelledby="rules">
      <h2 id="rules">For new entries of this group</h2>
      <ul>
        {rules.map((rule) => (
          <li>
            {`Rule ${rule.id} of ${rule.actor}${rule.feed === null ? '' : ` for feed ${rule.feed}`}: ${excerpt(describeDecision({ action: rule.action, edit: rule.detail.edit, reason: rule.detail.reason }), 300)} (${rule.done} done, ${rule.leftAlone} left alone)`}
            {mayReview(visit) && <EndRule visit={visit} rule={rule.id} texts={texts} />}
          </li>
        ))}
      </ul>
    </section>
  );

/** @param rule its number; texts where it was shown, if it was with its group */
export const EndRule = ({ visit, rule, texts }: { visit: Visit; rule: number; texts?: ReviewSelection }) => (
  <form method="post" action={visit.prefix + pageAddress.endRule(rule)}>
    <Csrf visit={visit} />
    {texts !== undefined && <SelectionFields texts={texts} />}
    <button type="submit" aria-label={`End rule ${rule}`}>
      End
    </button>
  </form>
);
