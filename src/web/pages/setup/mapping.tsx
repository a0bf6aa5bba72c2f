// The second step: what the feed was recognised as, what its records become, and where each field of the site comes from.
import {
  DRAFT_STEPS,
  type FieldChoice,
  fieldChoiceOf,
  fieldsOfDraft,
  settingsOfDraft,
} from '../../../config/feed-draft.ts';
import { type RecognisedFeed, secondChoice, type TriedFeed } from '../../../operations/feed-setup.ts';
import { plural } from '../../../plan/message.ts';
import { htmlToText } from '../../../posting/markup.ts';
import { pageAddress } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { Fact, SelectField, TextField } from '../parts/parts.tsx';
import { allowsShortRows, PLACE_USES, type SetupDraft, TEXT_AS_WRITTEN, tableText } from './read-draft.ts';
import { Steps, TrialFindings } from './source.tsx';

interface MappingProps {
  readonly draft: SetupDraft;
  readonly tried: TriedFeed;
  readonly recognised: RecognisedFeed | undefined;
  readonly fault: string | undefined;
  readonly stateField: string;
}

/** The fields that sites usually have, in the order of the form. */
const USUAL = [
  'title',
  'description',
  'category-name',
  'location-city',
  'location-state',
  'contact-web-address',
  'contact-email-address',
  'number',
];

export const MappingPage = ({ draft, tried, recognised, fault, stateField }: MappingProps) => {
  const names = [...new Set([...USUAL, ...tried.fields.map(({ field }) => field), ...fieldsOfDraft(draft.text)])];
  return (
    <Layout title={draft.isNew ? `Add the feed ${draft.feed}` : `Change the feed ${draft.feed}`}>
      <Steps at={1} />
      <div id="fault" data-tried="true">
        {fault !== undefined && <p role="alert" class="notice bad">{`${fault}.`}</p>}
      </div>
      {recognised !== undefined && <Recognised recognised={recognised} draft={draft} />}
      <div id="tried" data-tried="true">
        <TrialFindings tried={tried} />
        {tried.trial !== null && tried.trial.samples.length > 0 && (
          <section aria-labelledby="cards">
            <h2 id="cards">What the first postings become</h2>
            <ul class="beside">
              {tried.trial.samples.map((sample, at) => (
                <li>
                  <JobCard sample={sample} stateField={stateField} />
                  <details open={at === 0}>
                    <summary>{`The record of ${sample.key}`}</summary>
                    <dl class="facts">
                      {sample.record.map(({ path, value }) => (
                        <>
                          <Fact name={path}>{value}</Fact>
                        </>
                      ))}
                    </dl>
                  </details>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <PostForm
        id="mapping"
        enctype="multipart/form-data"
        action={pageAddress.setupMapping()}
        class="setup"
        aria-labelledby="fields"
        hidden={draftFields(draft)}
      >
        <h2 id="fields">Where each field comes from</h2>
        {(mayLackCells(tried, draft) || allowsShortRows(draft.text)) && (
          <p>
            <input type="hidden" name="short_rows.shown" value="true" />
            <label class="option">
              <input type="checkbox" name="short_rows" value="true" checked={allowsShortRows(draft.text)} /> Rows may
              lack their last cells
            </label>
          </p>
        )}
        <KeyChoice draft={draft} tried={tried} />
        {names.map((field) => (
          <FieldSet field={field} draft={draft} tried={tried} />
        ))}
        <PlacesChoice draft={draft} tried={tried} />
        <TextField name="new_field" label="Another field of the site" />
        <p class="row actions">
          <button type="submit" name="go" value="update">
            Try these fields
          </button>
          <button type="submit" name="go" value="continue" class="main">
            Go on to the settings
          </button>
        </p>
      </PostForm>
      <PostForm action={pageAddress.setupMapping()} class="setup" hidden={draftFields(draft)}>
        <details>
          <summary>The settings as text</summary>
          <p>
            <label for="edited">YAML, as it is saved; docs/configuration.md has all settings</label>
            <textarea id="edited" name="edited" rows={20} class="text" spellcheck={false}>
              {draft.text}
            </textarea>
          </p>
          <button type="submit" name="go" value="text">
            Try this text
          </button>
        </details>
      </PostForm>
    </Layout>
  );
};

/** Rows are unreadable for a reason that a setting allows. */
const mayLackCells = ({ trial }: TriedFeed, { text }: SetupDraft): boolean =>
  typeof settingsOfDraft(text).format === 'object' &&
  (trial?.unreadable_records ?? []).some(({ message }) => message.includes('csv.allow_missing_cells'));

/** What each form carries to the next. */
export const draftFields = (draft: SetupDraft) => ({
  feed: draft.feed,
  text: draft.text,
  seen: draft.seen,
  sample: draft.sample,
  source: draft.source,
  upload: String(draft.isUpload),
  new: String(draft.isNew),
});

const Recognised = ({ recognised, draft }: { recognised: RecognisedFeed; draft: SetupDraft }) => {
  const { format, description, records, key, filled, notes, assumed, variables, second, encoding, sample } = recognised;
  return (
    <section class="panel" aria-labelledby="recognised">
      <h2 id="recognised">{format === null ? 'A format of its own' : `Recognised: ${format}`}</h2>
      <p>
        {format === null
          ? `${second === null ? 'No preset fits' : 'No preset is better'}, so the draft has a format of its own, made of the names and texts in the records.`
          : `${description ?? 'A preset'}.`}{' '}
        {`${plural(records, 'record')} in the ${sample === null || sample.whole ? 'document' : 'beginning of the document'}.`}
      </p>
      <dl class="facts">
        <Fact name="Fills">{filled.join(', ') || 'nothing'}</Fact>
        <Fact name="Key">{key.length > 0 && key.join(' and ')}</Fact>
        <Fact name="Encoding">
          {encoding !== null &&
            `${encoding} is assumed, as the document is not UTF-8 and does not say how it is encoded`}
        </Fact>
      </dl>
      {[...assumed, ...notes].map((note) => (
        <p class="notice">{note}</p>
      ))}
      {variables.length > 0 && (
        <p class="notice">
          {`The address has a secret. Set ${variables.join(' and ')} in the environment of jobmirror, which the settings name instead; until then only the sample can be read.`}
        </p>
      )}
      {second !== null && (
        <PostForm
          action={pageAddress.newFeed()}
          hidden={{
            feed: draft.feed,
            source: draft.source,
            sample: draft.isUpload ? draft.sample : '',
            site: String(settingsOfDraft(draft.text).site ?? ''),
            format: second.format,
          }}
        >
          <p>{secondChoice(nameOf(second.format), second)}</p>
          <button type="submit">{`Use ${nameOf(second.format)} instead`}</button>
        </PostForm>
      )}
    </section>
  );
};

const nameOf = (format: string): string => (format === 'own' ? 'a format of its own' : format);

/** A browser shows so many that nobody finds one among more; any path can be written in the text. */
const MOST_PATHS = 150;

type Path = TriedFeed['paths'][number];

const KeyChoice = ({ draft, tried }: { draft: SetupDraft; tried: TriedFeed }) => {
  const [only, ...more] = tried.key;
  const present = more.length === 0 ? (only ?? '') : '';
  const paths = tried.paths.filter(({ path }) => path === present || path.length <= 100).slice(0, MOST_PATHS);
  const written = settingsOfDraft(draft.text);
  const isOwn = written.key !== undefined || typeof written.format === 'object';
  return (
    <fieldset>
      <legend>Key</legend>
      <label for="key">What identifies a posting, and never changes</label>
      <select id="key" name="key">
        <option value={TEXT_AS_WRITTEN} selected>
          {tried.key.length === 0
            ? 'as it is written'
            : `${tried.key.join(' and ')}${isOwn ? '' : ', as the preset says'}`}
        </option>
        {paths
          .filter(({ path }) => path !== present)
          .map((path) => (
            <option value={path.path}>{`${path.path} (${path.distinct} different in ${path.records})`}</option>
          ))}
      </select>
      <label for="second_key">Together with, if that alone is not different in each record</label>
      <select id="second_key" name="second_key">
        <option value="">nothing else</option>
        {tried.paths
          .filter(({ path }) => path.length <= 100)
          .slice(0, MOST_PATHS)
          .map((path) => (
            <option value={path.path}>{`${path.path} (${path.distinct} different in ${path.records})`}</option>
          ))}
      </select>
    </fieldset>
  );
};

const PlacesChoice = ({ draft, tried }: { draft: SetupDraft; tried: TriedFeed }) => {
  const written = settingsOfDraft(draft.text);
  const hasOwn = typeof written.places === 'object' && written.places !== null;
  const { use, path, split } = Object(written.places) as Readonly<Record<string, unknown>>;
  const several = (tried.trial?.rejections ?? [])
    .filter(({ message }) => /names several (?:states|places)/.test(message))
    .reduce((sum, kind) => sum + kind.count, 0);
  return (
    <fieldset>
      <legend>Postings in several places</legend>
      <div class="choice">
        <SelectField id="places-use" name="places.use" label="If a posting names several">
          {written.places === null && (
            <option value={TEXT_AS_WRITTEN} selected>
              as it is written: nothing is done
            </option>
          )}
          <option value="format" selected={written.places === undefined}>
            as the preset says, or the first one; a text with several states is rejected
          </option>
          {Object.entries(PLACE_USES).map(([name, words]) => (
            <option value={name} selected={hasOwn && use === name}>
              {words}
            </option>
          ))}
        </SelectField>
        <SelectField id="places-path" name="places.path" label="Where the places are">
          {hasOwn ? (
            <option value={TEXT_AS_WRITTEN} selected>
              {[path].flat().join(' and ')}
            </option>
          ) : (
            <option value="">choose a path</option>
          )}
          <PathsWithValues paths={tried.paths.filter((each) => each.path !== path)} />
        </SelectField>
        <TextField
          id="places-split"
          name="places.split"
          label="Separated in one text by"
          value={typeof split === 'string' ? split : ''}
          placeholder="; or |"
        />
      </div>
      <p id="places-hint" class="hint" data-tried="true">
        {several === 0 ? '' : `${plural(several, 'posting')} can't be sent: several places in one text.`}
      </p>
    </fieldset>
  );
};

const FieldSet = ({ field, draft, tried }: { field: string; draft: SetupDraft; tried: TriedFeed }) => {
  const choice = fieldChoiceOf(draft.text, field);
  const found = tried.fields.find((each) => each.field === field);
  const postings = tried.trial === null ? 0 : tried.trial.postings - tried.trial.without_detail;
  const id = (name: string) => `${name}-${field}`;
  const step = 'step' in choice ? choice.step : 'none';
  const otherwise = 'otherwise' in choice ? (choice.otherwise ?? '') : '';
  const table = 'table' in choice && choice.table !== undefined ? tableText(choice.table) : '';
  const text = choice.kind === 'template' || choice.kind === 'value' ? choice.text : '';
  const isEmpty = postings > 0 && found !== undefined && found.from !== null && found.filled + found.refused === 0;
  return (
    <fieldset>
      <legend>
        {field}
        {found?.required === true && <span class="quiet"> required</span>}
      </legend>
      {tried.fields.length > 0 && (
        <p id={id('fill')} class={isEmpty || (found?.refused ?? 0) > 0 ? 'fill warn' : 'fill quiet'} data-tried="true">
          {fillOf(found, postings)}
        </p>
      )}
      <div class="choice">
        <SelectField id={id('from')} name={`from.${field}`} label="From">
          {choice.kind === 'written' && (
            <option value={TEXT_AS_WRITTEN} selected>
              {`as it is written: ${found?.from ?? 'in the text'}`}
            </option>
          )}
          <FormatOptions draft={draft} choice={choice} from={tried.valid ? (found?.from ?? null) : undefined} />
          <option value="template" selected={choice.kind === 'template'}>
            text with paths in braces
          </option>
          <option value="value" selected={choice.kind === 'value'}>
            the same text for all
          </option>
          <PathOptions choice={choice} paths={tried.paths} sampled={tried.sampled} />
        </SelectField>
        <SelectField id={id('step')} name={`step.${field}`} label="Made into">
          {Object.entries(DRAFT_STEPS).map(([name, words]) => (
            <option value={name} selected={name === step}>
              {words}
            </option>
          ))}
        </SelectField>
      </div>
      <details open={text !== '' || otherwise !== '' || step === 'table' || choice.kind === 'value'}>
        <summary>{`Text, default and look-up table of ${field}`}</summary>
        <TextField
          id={id('text')}
          name={`text.${field}`}
          label="Text: such as Springfield, or {city}, {state} with paths"
          value={text}
        />
        {tried.paths.length > 0 && (
          <SelectField
            id={id('insert')}
            name={`insert.${field}`}
            label="Add a path to this text when the fields are tried"
          >
            <option value="">none</option>
            <PathsWithValues paths={tried.paths} />
          </SelectField>
        )}
        <TextField id={id('default')} name={`default.${field}`} label="If the record has none" value={otherwise} />
        <p>
          <label for={id('table')}>Look-up table: the feed's text, a comma, the site's text</label>
          <textarea id={id('table')} name={`table.${field}`} rows={3} class="text">
            {table}
          </textarea>
        </p>
        <p>
          <label for={id('file')}>Or a CSV file with such a table</label>
          <input id={id('file')} name={`file.${field}`} type="file" accept=".csv,text/csv" />
        </p>
      </details>
    </fieldset>
  );
};

function fillOf(found: TriedFeed['fields'][number] | undefined, postings: number): string {
  if (found === undefined || found.from === null) return 'nothing fills it';
  if (postings === 0) return found.from;
  const refused = found.refused === 0 ? '' : `, ${found.refused} refused`;
  return `${Math.floor((found.filled / postings) * 100)} % of the postings have it${refused}`;
}

/** @param from in words; `undefined`: it is not known */
const FormatOptions = (props: { draft: SetupDraft; choice: FieldChoice; from: string | null | undefined }) => {
  const { draft, choice, from } = props;
  const hasPreset = typeof settingsOfDraft(draft.text).format === 'string';
  const isFormat = choice.kind === 'format';
  const words = !hasPreset || (isFormat && from === null) ? 'nothing' : 'as the preset says';
  return (
    <>
      <option value="format" selected={isFormat}>
        {hasPreset && isFormat && from ? `${words}: ${from}` : words}
      </option>
      {hasPreset && (
        <option value="none" selected={choice.kind === 'none'}>
          left out
        </option>
      )}
    </>
  );
};

const PathOptions = ({ choice, paths, sampled }: { choice: FieldChoice; paths: readonly Path[]; sampled: number }) => {
  const present = choice.kind === 'path' ? choice.text : undefined;
  const isKnown = paths.some(({ path }) => path === present);
  return (
    <optgroup label="Paths of the records">
      {present !== undefined && !isKnown && (
        <option value={`path:${present}`} selected>
          {`${present} (no text)`}
        </option>
      )}
      {paths
        .filter(({ path }, at) => at < MOST_PATHS || path === present)
        .map(({ path, records, values }) => (
          <option value={`path:${path}`} selected={path === present}>
            {`${path} · ${share(records, sampled)} · ${values.map(brief).join(' | ')}`}
          </option>
        ))}
    </optgroup>
  );
};

const PathsWithValues = ({ paths }: { paths: readonly Path[] }) => (
  <>
    {paths.slice(0, MOST_PATHS).map(({ path, values }) => (
      <option value={path}>{`${path} · ${values.map(brief).join(' | ')}`}</option>
    ))}
  </>
);

const share = (records: number, sampled: number): string =>
  sampled === 0 ? '' : `${Math.floor((records / sampled) * 100)} %`;

const SHOWN_VALUE_CHARACTERS = 32;

const brief = (value: string): string =>
  value.length > SHOWN_VALUE_CHARACTERS ? `${value.slice(0, SHOWN_VALUE_CHARACTERS).toWellFormed()}…` : value;

// A posting as the site shows its job: title, place, description, and the other fields.

type Sample = NonNullable<TriedFeed['trial']>['samples'][number];

/** Fields with their own place on the card. */
const PLACED: readonly string[] = ['title', 'description', 'location-city', 'category-name', 'number'];
const SHOWN_CHARACTERS = 400;

const JobCard = ({ sample, stateField }: { sample: Sample; stateField: string }) => {
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
              <Fact name={name}>
                {value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : value}
              </Fact>
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
