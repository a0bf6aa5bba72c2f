// The fields of a posting as they should be on the site, beside what the site has where that differs.
import type { PostingView } from './read-posting.ts';
import { ShownText } from './shown-text.tsx';

export const FieldTable = ({ view }: { view: PostingView }) => {
  const { fields, hasSiteFields, story } = view;
  const isLive = story.change?.fields === undefined;
  if (fields.length === 0) return null;
  const differing = fields.filter(({ differs }) => differs).length;
  return (
    <section aria-labelledby="fields">
      <h2 id="fields">Fields</h2>
      <p class="hint">
        {isLive
          ? 'As the site last accepted them.'
          : hasSiteFields
            ? `As they should be on the site, which has ${differing === 0 ? 'the same' : `${differing} differently`}.`
            : 'As they should be on the site. What the site has is not known, or it has no job.'}
      </p>
      <section class="scroll" tabindex={0} aria-label="Fields, scrollable">
        <table class="fields">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">{isLive ? 'Value' : 'Should be'}</th>
              {hasSiteFields && !isLive && <th scope="col">The site has</th>}
            </tr>
          </thead>
          <tbody>
            {fields.map(({ name, desired, site, differs, problems }) => (
              <tr>
                <th scope="row">{name}</th>
                <td>
                  {desired === undefined ? (
                    <span class="quiet">none</span>
                  ) : problems.length > 0 ? (
                    <ShownText shown={desired} mark={problems.find(({ value }) => value)?.value ?? desired.text} />
                  ) : (
                    <ShownText shown={desired} />
                  )}
                  {problems.map(({ message }) => (
                    <p class="error">{message.slice(0, 500)}</p>
                  ))}
                </td>
                {hasSiteFields && !isLive && (
                  <td>
                    {!differs ? (
                      <span class="quiet">the same</span>
                    ) : site === undefined ? (
                      <span class="warn">none</span>
                    ) : (
                      <ShownText shown={site} />
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
};
