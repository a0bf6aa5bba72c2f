// Replaces `${NAME}` in a configuration's texts from the environment, and refuses texts that could break a line or a header.
import type { Complaint } from './config-error.ts';
import { type SettingPath, type TextNode, visitTexts, type YamlSource } from './yaml-source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const CONTROL_CHARACTER = /\p{Cc}/u;
/** A control character, except tabs and line feeds, which multi-line text has. */
const STEERING_CHARACTER = /(?![\t\n])\p{Cc}/u;
const NUMBER_OR_BOOLEAN = /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false)$/;

export interface FilledSettings {
  readonly complaints: readonly Complaint[];
  /** Those of the complaints that are only about variables that are not set. */
  readonly unset: ReadonlySet<Complaint>;
  /** The variables used, by name. No message may show their values. */
  readonly used: ReadonlyMap<string, string>;
}

/**
 * Replaces every `${NAME}`. An unquoted value that is only `${NAME}` takes the type of the variable's text: `8080` becomes a
 * number. Texts for which `isSecret` holds are checked but not replaced, to keep secrets out of the data.
 */
export function fillFromEnvironment(
  source: YamlSource,
  env: Environment,
  isSecret: (path: SettingPath) => boolean,
): FilledSettings {
  const complaints: Complaint[] = [];
  const unset = new Set<Complaint>();
  const used = new Map<string, string>();
  visitTexts(source, (node) => {
    const { text, problems, isUnset } = expand(node.text, env, used);
    if (isPostingText(node.path)) {
      if (STEERING_CHARACTER.test(text)) problems.push('holds a control character other than line breaks and tabs');
    } else if (CONTROL_CHARACTER.test(text)) {
      problems.push(
        'holds a line break or another control character, which is not allowed in a setting; write it on one line',
      );
    }
    for (const message of problems) {
      const complaint = source.complain(node.path, message);
      complaints.push(complaint);
      if (isUnset) unset.add(complaint);
    }
    if (problems.length === 0 && !isSecret(node.path)) node.replace(asWritten(node, text));
  });
  return { complaints, unset, used };
}

const POSTING_TEXTS: ReadonlySet<unknown> = new Set(['join', 'template', 'value', 'default']);

/** Whether a text becomes part of a posting's fields, rather than of a line or a header. */
const isPostingText = (path: SettingPath): boolean => path.at(-3) === 'fields' && POSTING_TEXTS.has(path.at(-1));

/** Replaces the values of variables in a message by their names. */
export function hideVariableValues(message: string, used: ReadonlyMap<string, string>): string {
  let hidden = message;
  // Values of up to three characters are not secrets, and would match in ordinary words.
  for (const [name, value] of used) if (value.length > 3) hidden = hidden.replaceAll(value, `\${${name}}`);
  return hidden;
}

/** Replaces every `${NAME}` in a text that passed {@link fillFromEnvironment}. */
export const fillText = (text: string, env: Environment): string => expand(text, env, new Map()).text;

/** `isUnset`: all problems are variables without a value. */
function expand(text: string, env: Environment, used: Map<string, string>) {
  const problems: string[] = [];
  let isUnset = true;
  const expanded = text.replace(REFERENCE, (whole, name: string) => {
    if (!NAME.test(name) || !whole.endsWith('}')) {
      isUnset = false;
      problems.push(`"\${" starts a reference to an environment variable, as in \${NAME}, but this is not one`);
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined)
      problems.push(`the environment variable ${name} is not set; set it before starting jobmirror`);
    else if (value === '') problems.push(`the environment variable ${name} is empty; give it a value`);
    else used.set(name, value);
    return value ?? '';
  });
  return { text: expanded, problems, isUnset };
}

function asWritten(node: TextNode, text: string): unknown {
  const isWhole = node.isPlain && node.text !== text && /^\$\{[^}]*\}$/.test(node.text);
  return isWhole && NUMBER_OR_BOOLEAN.test(text) ? JSON.parse(text) : text;
}
