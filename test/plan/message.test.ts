// Messages: what happened and what to do, told with the actions written for a medium.
import { expect, it } from 'vitest';
import { actionsOf, type Message, merge, messageOf, reword, tell, tellAll, textOf } from '../../src/plan/message.ts';
import { siteName } from '../../src/posting/identifiers.ts';

const resume = { kind: 'resume_site', site: siteName('board') } as const;
const status = { kind: 'show_status' } as const;
const told = (message: Message) => tell(message, ({ kind }) => `<${kind}>`);

it.each<{ name: string; message: Message; line: string }>([
  { name: 'a plain text', message: 'all is well', line: 'all is well' },
  { name: 'an action alone', message: messageOf('it is so', [{ action: status }]), line: 'it is so: <show_status>' },
  {
    name: 'advice that continues the sentence',
    message: messageOf('it is so', [{ words: 'go on with', action: resume }, { words: 'wait' }]),
    line: 'it is so; go on with: <resume_site>; wait',
  },
  {
    name: 'advice in sentences of their own',
    message: messageOf('it is so', [{ words: 'If it may', action: resume }, { words: 'If not, wait' }]),
    line: 'it is so. If it may: <resume_site>. If not, wait',
  },
])('tells $name', ({ message, line }) => {
  expect(told(message)).toBe(line);
});

it('keeps the advice when the text around it changes', () => {
  const message = messageOf('no answer', [{ words: 'go on with', action: resume }]);
  const reworded = reword(message, (text) => `${text} (gave up)`);
  expect(told(reworded)).toBe('no answer (gave up); go on with: <resume_site>');
  expect(told(merge([message, 'and more']))).toBe('no answer; and more; go on with: <resume_site>');
  expect(tellAll([message, 'and more'], ({ kind }) => kind)).toBe('no answer; go on with: resume_site; and more');
  expect([textOf(message), actionsOf(message), actionsOf('plain')]).toEqual(['no answer', [resume], []]);
});
