// Fills `${NAME}` in a configuration's texts from the environment, and refuses texts that could break a line or a header.
import type { Complaint } from './config-error.ts';
import { type SettingPath, type TextNode, visitTexts, type YamlSource } from './yaml-source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const CONTROL_CHARACTER = /\p{Cc}/u;
/** The same, but for what a text of several lines holds. */
const STEERING_CHARACTER = /(?![\t\n])\p{Cc}/u;
const NUMBER_OR_BOOLEAN = /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false)$/;

export interface Filling {
  readonly complaints: readonly Complaint[];
  /** Variables that were used, by name: no message may show their values. */
  readonly used: ReadonlyMap<string, string>;
}

/**
 * Replaces every `${NAME}`. A value without quotes that is only `${NAME}` reads like what the variable holds: `8080` is a
 * number. Texts for which `isSecret` holds are checked but stay as they are, so that nothing that handles the data meets
 * the secret.
 */
export function fillFromEnvironment(
  source: YamlSource,
  env: Environment,
  isSecret: (path: SettingPath) => boolean,
): Filling {
  const complaints: Complaint[] = [];
  const used = new Map<string, string>();
  visitTexts(source, (node) => {
    const { text, problems } = expand(node.text, env, used);
    if (isPostingText(node.path)) {
      if (STEERING_CHARACTER.test(text)) problems.push('holds a control character other than line breaks and tabs');
    } else if (CONTROL_CHARACTER.test(text)) {
      problems.push('holds a line break or another control character, which no setting may; write it on one line');
    }
    complaints.push(...problems.map((message) => source.complain(node.path, message)));
    if (problems.length === 0 && !isSecret(node.path)) node.replace(asWritten(node, text));
  });
  return { complaints, used };
}

const POSTING_TEXTS: ReadonlySet<unknown> = new Set(['join', 'template', 'value', 'default']);

/** Whether a text becomes part of a posting's fields, and not of a line or a header. */
const isPostingText = (path: SettingPath): boolean => path.at(-3) === 'fields' && POSTING_TEXTS.has(path.at(-1));

/** A message that shows a variable's name where it would have shown its value. */
export function hideValues(message: string, used: ReadonlyMap<string, string>): string {
  let hidden = message;
  // Values of one to three characters are no secrets, and would be found in every second word.
  for (const [name, value] of used) if (value.length > 3) hidden = hidden.replaceAll(value, `\${${name}}`);
  return hidden;
}

/** The text with every `${NAME}` replaced; for texts that passed {@link fillFromEnvironment}. */
export const fillText = (text: string, env: Environment): string => expand(text, env, new Map()).text;

function expand(text: string, env: Environment, used: Map<string, string>): { text: string; problems: string[] } {
  const problems: string[] = [];
  const expanded = text.replace(REFERENCE, (whole, name: string) => {
    if (!NAME.test(name) || !whole.endsWith('}')) {
      problems.push(`"\${" begins the name of an environment variable, as in \${NAME}; this is none`);
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined)
      problems.push(`the environment variable ${name} is not set; set it before starting jobmirror`);
    else if (value === '') problems.push(`the environment variable ${name} is empty; give it a value`);
    else used.set(name, value);
    return value ?? '';
  });
  return { text: expanded, problems };
}

function asWritten(node: TextNode, text: string): unknown {
  const isWhole = node.isPlain && node.text !== text && /^\$\{[^}]*\}$/.test(node.text);
  return isWhole && NUMBER_OR_BOOLEAN.test(text) ? JSON.parse(text) : text;
}
