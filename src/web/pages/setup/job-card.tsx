// A posting as the site shows its job: title, place, description, and the other fields.

import type { TriedFeed } from '../../../operations/feed-setup.ts';
import { htmlToText } from '../../../posting/markup.ts';

type Sample = NonNullable<TriedFeed['trial']>['samples'][number];

/** Fields with their own place on the card. */
const PLACED: readonly string[] = ['title', 'description', 'location-city', 'category-name', 'number'];
const SHOWN_CHARACTERS = 400;

export const JobCard = ({ sample, stateField }: { sample: Sample; stateField: string }) => {
  const { fields, problems, notes } = sample;
  const { title = '', description = '', number } = fields;
  const place = [fields['location-city'], fields[stateField]].filter(Boolean).join(', ');
  const text = htmlToText(description);
  const others = Object.entries(fields).filter(([name]) => !PLACED.includes(name) && name !== stateField);
  return (
    <article class="card job">
      <h3>{title === '' ? 'No title' : title}</h3>
      <p class="quiet">
        {[place === '' ? 'no place' : place, fields['category-name'], number && `No. ${number}`]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {text === '' ? (
        <p class="quiet">No description.</p>
      ) : (
        <p class="said">
          {text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text}
        </p>
      )}
      {others.length > 0 && (
        <dl class="facts">
          {others.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : value}</dd>
            </>
          ))}
        </dl>
      )}
      {problems.map(({ message }) => (
        <p class="error">{`Would be rejected: ${message}`}</p>
      ))}
      {notes.map((note) => (
        <p class="hint">{`Note: ${note}`}</p>
      ))}
    </article>
  );
};
