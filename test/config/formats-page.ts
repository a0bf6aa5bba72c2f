// Generates docs/formats.md from config/presets: each preset with its quirks, fields and a sample configuration.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../src/config/package-root.ts';

const INTRODUCTION = `# Formats

<!-- Generated from config/presets by \`UPDATE=1 npx vitest run test/config/generated.test.ts\`. -->

\`format\` names one of these presets, or describes a format of your own: [feeds.md](feeds.md) says how feeds are read, and
[mapping.md](mapping.md) what a field can do; [cookbook.md](cookbook.md) has whole examples. A feed's \`fields\` add to those of its
preset or replace them; \`key\`, \`key_as\`, \`skip\`, \`pages\` and \`details\` can be set in the feed too. \`acme\` in addresses stands for the name of the company.

All presets fill the same fields of the site: \`number\` (the key of the posting), \`title\`, \`category-name\`, \`description\`,
\`location-city\`, \`location-state\`, \`contact-email-address\` and \`contact-web-address\`, as far as the feed has them. A posting whose
U.S. state is not clear is rejected, and listed in review. Dates, salaries and others are fields of your own:
\`posted-on: { from: publishedAt, as: date }\`.

\`Limits\` says what the system does at its limits: how long its pages are, where its lists end, what it answers when it is asked too
often, and whether its total is exact; with the date and the source, as most of it is documented by users only. Whatever a system
does, jobmirror deletes nothing unless the list is proven complete ([feeds.md](feeds.md#pages)), waits when it is told to (429, 503),
and holds more deletes than the delete guard allows.

## Values of JSON

| value | what a field gets |
|---|---|
| \`[52, "Texas (US)"]\`: an id and a name, as Odoo writes a reference to another record | the name, in fields of words and places (titles, categories, cities, states, …), and in any other field whose path ends with \`_id\`; \`try\` lists these fields |
| the same, in \`number\`, in other fields (\`pay: [50000, "USD"]\`), and in the key | the first value, or both with \`join\` |
| \`[52, 53]\`, \`["52", "Texas"]\` | the first value, or both with \`join\` |
| \`false\`, where a system writes it for an empty text (Odoo) | nothing, in titles, categories, places, descriptions and contacts |
| \`[{ "value": "Nurse" }]\` (Drupal) | the text, with the path \`title/value\` |

Conditions (\`when\`, \`skip\`) hold for either value of a list, and expressions (\`jsonata\`) see the whole list.

## Your own presets

A file \`presets/NAME.yaml\` beside \`jobmirror.yaml\` is a preset too: \`format: NAME\`. It is written like the files in
\`config/presets\`; start from the one that is nearest. Paths in it, such as those of look-up tables, start at its folder. If it has
the name of one of the presets below, it replaces that one, and \`check\` says so. \`check\` also lists your presets.
`;

interface Preset {
  readonly name: string;
  readonly quirks: readonly string[];
  readonly settings: Settings;
}

/** As written in the file. */
interface Settings {
  readonly description: string;
  readonly documentation: string;
  readonly example: Readonly<Record<string, unknown>>;
  readonly type?: string;
  readonly records?: string;
  readonly key: string | readonly string[];
  readonly key_as?: unknown;
  readonly total?: string;
  readonly script?: unknown;
  readonly pages?: unknown;
  readonly details?: unknown;
  readonly skip?: unknown;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The text of the page. */
export function formatsPage(): string {
  const presets = readPresets();
  const rows = presets.map(
    ({ name, settings }) => `| [\`${name}\`](#${name}) | ${settings.description} | ${kindOf(settings)} |`,
  );
  const list = ['## Presets', '', '| preset | system | format |', '|---|---|---|', ...rows, ''];
  return [INTRODUCTION, ...list, ...presets.flatMap(sectionOf)].join('\n');
}

/** The presets that come with jobmirror, as written. */
export function readPresets(): readonly Preset[] {
  const folder = join(packageRoot, 'config', 'presets');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const [opening = ''] = text.split(/^[^#]/m);
      const quirks = [...opening.matchAll(/^# (.*)$/gm)].map(([, quirk = '']) => quirk);
      return { name: file.slice(0, -'.yaml'.length), quirks, settings: parse(text) as Settings };
    });
}

const KINDS: Readonly<Record<string, string>> = {
  xml: 'XML',
  json: 'JSON',
  jsonl: 'JSON Lines',
  csv: 'table',
  html: 'HTML',
  'json-ld': 'HTML or JSON',
};

const kindOf = ({ type = 'xml', pages, details }: Settings): string =>
  [KINDS[type] ?? type, pages && 'pages', details && 'details'].filter(Boolean).join(', ');

const whereWithoutPath = (type: string | undefined): string | undefined =>
  type === 'json' || type === 'html' ? WHOLE_LISTS[type] : undefined;

const WHOLE_LISTS = { json: 'the document is the list', html: 'the JSON is the list' } as const;

function sectionOf({ name, quirks, settings }: Preset): readonly string[] {
  const { description, documentation, example, fields, key, ...others } = settings;
  const facts = Object.entries({
    records: others.records ?? whereWithoutPath(others.type),
    script: others.script,
    key,
    key_as: others.key_as,
    total: others.total,
    pages: others.pages,
    details: others.details,
    skip: others.skip,
  }).filter(([, value]) => value !== undefined);
  return [
    `## ${name}`,
    '',
    `${description}. ${KINDS[others.type ?? 'xml']}. [Documentation](${documentation})`,
    '',
    ...quirks.map((quirk) => `- ${quirk}`),
    '',
    '| setting or field | value |',
    '|---|---|',
    ...facts.map(([setting, value]) => `| ${setting} | ${inline(value)} |`),
    ...Object.entries(fields).map(([field, rule]) => `| \`${field}\` | ${inline(rule)} |`),
    '',
    '```yaml',
    stringify({ feeds: { acme: { ...example, format: name, site: 'board' } } }, { lineWidth: 0 }).trimEnd(),
    '```',
    '',
  ];
}

/** A setting in one line, as code. */
function inline(value: unknown): string {
  if (Object.values<unknown>(WHOLE_LISTS).includes(value)) return `${value}`;
  const text = typeof value === 'string' ? value : stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
  return `\`${text.replace(/\s+/g, ' ').replaceAll('|', '\\|')}\``;
}
