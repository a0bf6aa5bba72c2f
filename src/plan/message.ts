// A message for people: what happened, and what they can do about it as data.
import type { Action } from './action.ts';

/** One way to go on: what to do in words, and the action as data. */
export interface Advice {
  /** When or why to do it; capitalised if it is a sentence of its own. Absent: the action follows from the text. */
  readonly words?: string | undefined;
  /** Absent: something outside this program, which the words describe. */
  readonly action?: Action | undefined;
}

/** A plain text has nothing to act on. The database stores messages in this form as JSON. */
export type Message = string | { readonly text: string; readonly next: readonly Advice[] };

/** Renders an action for the medium at hand, for example as a command. */
export type WriteAction = (action: Action) => string;

/** What happened, without what to do about it. */
export const textOf = (message: Message): string => (typeof message === 'string' ? message : message.text);

export const adviceOf = (message: Message): readonly Advice[] => (typeof message === 'string' ? [] : message.next);

export const messageOf = (text: string, next: readonly Advice[] = []): Message =>
  next.length === 0 ? text : { text, next };

export const actionsOf = (message: Message): Action[] => adviceOf(message).flatMap(({ action }) => action ?? []);

/** The same message with another text around the same advice. */
export const reword = (message: Message, words: (text: string) => string): Message =>
  messageOf(words(textOf(message)), adviceOf(message));

/** One message of several, with all their advice at its end. */
export const merge = (messages: readonly Message[]): Message =>
  messageOf(messages.map(textOf).join('; '), messages.flatMap(adviceOf));

/** The whole message as text, each action after its advice. */
export const tell = (message: Message, write: WriteAction): string =>
  textOf(message) +
  adviceOf(message)
    .map((advice) => tellAdvice(advice, write))
    .join('');

/** Several messages in one line. */
export const tellAll = (messages: readonly Message[], write: WriteAction): string =>
  messages.map((message) => tell(message, write)).join('; ');

/** What people are told: as messages, and as the one text that programs read. */
export interface Notice {
  readonly messages: readonly Message[];
  readonly text: string;
}

export const noticeOf = (write: WriteAction, ...messages: readonly Message[]): Notice => ({
  messages,
  text: tellAll(messages, write),
});

function tellAdvice({ words, action }: Advice, write: WriteAction): string {
  const written = action === undefined ? [] : [write(action)];
  if (words === undefined) return written.map((one) => `: ${one}`).join('');
  const isSentence = /^\p{Lu}/u.test(words);
  return `${isSentence ? '. ' : '; '}${[words, ...written].join(': ')}`;
}

// Writes a number with its noun: "1 delete", "2 deletes".

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
