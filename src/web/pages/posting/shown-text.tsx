// A text of a feed or site, as text, with the part that is meant marked. Characters that would turn or hide what stands beside them are
// shown as their escapes, as in a terminal.
import { terminalText } from '../../../telemetry/print.ts';
import type { Shown } from './read-posting.ts';

/** @param mark marked wherever the text contains it; the whole text, if it is empty or the text is this */
export const ShownText = ({ shown, mark }: { shown: Shown; mark?: string | undefined }) => (
  <>
    <span class="text">
      {mark === undefined ? terminalText(shown.text) : marked(terminalText(shown.text), terminalText(mark))}
    </span>
    {shown.left > 0 && <span class="hint">{` … ${shown.left} more characters`}</span>}
  </>
);

const MOST_MARKS = 20;

function marked(text: string, mark: string) {
  const parts = mark === '' ? [] : text.split(mark, MOST_MARKS + 1);
  if (parts.length < 2) return mark === '' || text !== mark ? text : <mark>{text}</mark>;
  const rest = text.slice(parts.join(mark).length);
  return (
    <>
      {parts.map((part, at) => (
        <>
          {at > 0 && <mark>{mark}</mark>}
          {part}
        </>
      ))}
      {rest}
    </>
  );
}
