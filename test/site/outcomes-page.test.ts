// Checks that docs/outcomes.md matches the classification. Regenerate it with `npx vitest run
// test/site/outcomes-page.test.ts -u`.
import { expect, it } from 'vitest';
import { outcomeRules } from '../../src/site/outcome.ts';

const introduction = `# Outcomes

How jobmirror classifies the result of one request to the site. Rules are tried from top to bottom; the first match decides.
This page is generated from the table \`outcomeRules\` in \`src/site/outcome.ts\`.

- \`created\`, \`accepted\`, \`gone\`: done. On update, a job that is gone is created again; on delete, the goal is reached.
- \`rejected\`, \`forbidden\`: refused for this posting; it waits until its record changes or a person acts.
  Under 2xx a failure word is enough: a change wrongly taken for done is never repaired, but one wrongly sent to review
  is noticed. Such an update or delete may have been done anyway, and later changes allow for that.
- \`set_up\`: a refusal that says nothing about the job, or in words for a fault of the set-up (an unpermitted parameter, a missing CSRF
  token, a page to sign in). While it is not known whether the site refuses every posting so, the posting waits and is sent again; if it does,
  the site is paused, and nothing is called invalid. The table does not list it: it depends on the answers to other postings.
- \`unauthorized\`, \`misconfigured\`: no request of this kind can succeed; the site is paused.
- \`throttled\`, \`unreachable\`: certainly not done; sent again later.
- \`foreign\`: the job belongs to another posting; it is left alone, and a person says which job the posting has.
- \`unconfirmed\`: a delete that was not sent, because the site may have given the job's ID to another posting, an update
  that waits until the site shows what it must not clear, or a create whose posting may have a job at another address; tried again, then left to a
  person. No answer has this outcome, so the table does not list it.
- \`unknown\`: may or may not have been done. An update or delete is sent again; a create is in doubt and never just resent.
  So is, where there is a list, a create whose \`reference_field\` the site refuses because a job has it. If the job is not its own,
  it is rejected, and sent again once a job of ours no longer has the reference.
  So is one that is refused for other values that only one job may have.

`;

it('docs/outcomes.md is up to date', async () => {
  const rows = outcomeRules.map(({ answer, requests, outcome, because }, index) => {
    const about = requests.length === 3 ? 'any' : requests.join(', ');
    return `| ${index + 1} | ${answer} | ${about} | \`${outcome}\` | ${because} |`;
  });
  const last = `| ${rows.length + 1} | anything else | any | \`unknown\` | no rule above applies |`;
  const table = ['| | answer | request | outcome | why |', '|---|---|---|---|---|', ...rows, last];
  await expect(`${introduction}${table.join('\n')}\n`).toMatchFileSnapshot('../../docs/outcomes.md');
});
