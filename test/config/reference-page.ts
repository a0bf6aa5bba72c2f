// Generates docs/configuration.md from the schema: every setting with its type, default and meaning.

import { configSchema } from '../../src/config/schema/config-schema.ts';
import { inputJsonSchema, type JsonSchema } from '../../src/config/validate.ts';
import { TRANSFORM_NAMES, TRANSFORMS } from '../../src/posting/steps/transforms.ts';

const INTRODUCTION = `# Configuration

<!-- Generated from src/config/schema/config-schema.ts by \`UPDATE=1 npx vitest run test/config\`. -->

jobmirror reads \`jobmirror.yaml\` in the current folder, or the file that \`--config\` names. Start from
\`config/jobmirror.example.yaml\`, and check yours with \`jobmirror check\`. Unknown settings are refused.

\`\${NAME}\` in any text is replaced from the environment. Unquoted and alone, it takes the type of the variable's text: a
number or \`true\` stays one. Never write a token into the file: \`token: \${NAME}\`, or \`token_file\`. Relative paths
start at the folder of the file. Sizes are bytes, or numbers with a unit: \`500MB\` (decimal), \`5 MiB\` (binary).

A **path** leads from a record to a value: \`title\`, \`location/city\`, \`@id\` (an attribute), \`a/@id\`, \`*\` (any element),
\`item[name=Tasks]/value\` (the \`value\` of the \`item\` whose \`name\` is \`Tasks\`; quote the path in YAML). A name without
a prefix stands for any prefix: \`state\` finds \`joblisting:state\`.
`;

interface Section {
  readonly title: string;
  readonly about: string;
  readonly schema: JsonSchema;
}

/** The text of the page. */
export function configurationReference(): string {
  const sections = sectionsOf({ title: 'Top level', about: '', schema: inputJsonSchema(configSchema) }, '');
  return [INTRODUCTION, ...sections.map((section) => sectionText(section, sections)), transformsText()].join('\n');
}

function transformsText(): string {
  const rows = TRANSFORM_NAMES.map((name) => `| \`${name}\` | ${TRANSFORMS[name].about} |`);
  const about =
    'Every text is trimmed, its line ends become `\\n`, and characters that XML cannot carry are removed and recorded.';
  return ['## Transforms', '', about, '', '| name | effect |', '|---|---|', ...rows, ''].join('\n');
}

/** A group of settings and all groups inside it, outer groups first. */
function sectionsOf(section: Section, prefix: string): readonly Section[] {
  const inner = Object.entries(propertiesOf(section.schema)).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const about = textOf(schema.description);
    return groupsIn(schema).flatMap(({ suffix, group }) =>
      sectionsOf({ title: `\`${path}${suffix}\``, about, schema: group }, `${path}${suffix}.`),
    );
  });
  return [section, ...inner];
}

/** The groups that a setting may hold: itself, groups under user-chosen names, or members of a union. */
function groupsIn(schema: JsonSchema): readonly { readonly suffix: string; readonly group: JsonSchema }[] {
  if (Object.keys(propertiesOf(schema)).length > 0) return [{ suffix: '', group: schema }];
  if (isSchema(schema.additionalProperties)) {
    return groupsIn(schema.additionalProperties).map(({ suffix, group }) => ({ suffix: `.<name>${suffix}`, group }));
  }
  return Array.isArray(schema.anyOf) ? schema.anyOf.filter(isSchema).flatMap(groupsIn) : [];
}

function sectionText({ title, about, schema }: Section, sections: readonly Section[]): string {
  const heading = [`## ${title}`, '', ...(about === '' ? [] : [about, ''])];
  const first = sections.find((section) => sameSettings(section.schema, schema));
  if (first !== undefined && first.title !== title)
    return [...heading, `The settings are those of ${first.title}.`, ''].join('\n');
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const standard = required.includes(name) ? '*required*' : defaultOf(property);
    return `| \`${name}\` | ${kindOf(property)} | ${standard} | ${textOf(property.description).replaceAll('|', '\\|')} |`;
  });
  return [...heading, '| setting | value | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

const sameSettings = (a: JsonSchema, b: JsonSchema): boolean =>
  JSON.stringify(propertiesOf(a)) === JSON.stringify(propertiesOf(b));

function kindOf(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (Array.isArray(schema.anyOf)) return unionOf(schema.anyOf.filter(isSchema).map(kindOf));
  switch (schema.type) {
    case 'array':
      return `list of ${isSchema(schema.items) ? kindOf(schema.items) : 'values'}`;
    case 'object':
      return isSchema(schema.additionalProperties) ? 'by name' : 'group';
    case 'integer':
      return 'whole number';
    case 'string':
      return 'text';
    case 'boolean':
      return '`true` or `false`';
    default:
      return textOf(schema.type);
  }
}

function unionOf(kinds: readonly string[]): string {
  const [first = '', ...others] = new Set(kinds);
  return [first, ...others.map((kind) => (kind === `list of ${first}` ? 'a list of these' : kind))].join(', or ');
}

function defaultOf({ default: standard }: JsonSchema): string {
  if (standard === undefined) return '';
  const text = typeof standard === 'string' ? standard : JSON.stringify(standard);
  return text === '{}' || text === '[]' ? '' : `\`${text}\``;
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return isSchema(schema.properties) ? (schema.properties as Readonly<Record<string, JsonSchema>>) : {};
}
