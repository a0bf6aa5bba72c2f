// The page docs/outcomes.md says what the classification says. Written anew by `npx vitest run test/site/outcomes-page.test.ts -u`.
import { expect, it } from 'vitest';
import { outcomeRules } from '../../src/site/outcome.ts';

const introduction = `# Outcomes

What one request to the site comes to. The rules are tried from top to bottom; the first one that fits decides.
They are the table \`outcomeRules\` in \`src/site/outcome.ts\`, from which this page is generated.

- \`created\`, \`accepted\`, \`gone\`: done. A job that is gone is created anew on update, and is what a delete wanted.
- \`rejected\`, \`forbidden\`: refused for this posting; it waits for a change of its record or for a person.
  Under 2xx a word that speaks of failure is enough for that: a change wrongly taken for done is never made good, one
  wrongly in review is seen. Such an update or delete may have been done all the same, and is treated so by later ones.
- \`unauthorized\`, \`misconfigured\`: no request of this kind can succeed; the site is paused.
- \`throttled\`, \`unreachable\`: certainly not done; sent again later.
- \`foreign\`: the job is another posting's; it is left alone, and a person says which job the posting has.
- \`unknown\`: may have been done. An update or a delete is sent again; a create is in doubt and is never simply sent again.

`;

it('docs/outcomes.md is up to date', async () => {
  const rows = outcomeRules.map(({ answer, requests, outcome, because }, index) => {
    const about = requests.length === 3 ? 'any' : requests.join(', ');
    return `| ${index + 1} | ${answer} | ${about} | \`${outcome}\` | ${because} |`;
  });
  const last = `| ${rows.length + 1} | anything else | any | \`unknown\` | nothing can be said about it |`;
  const table = ['| | answer | request | outcome | why |', '|---|---|---|---|---|', ...rows, last];
  await expect(`${introduction}${table.join('\n')}\n`).toMatchFileSnapshot('../../docs/outcomes.md');
});
