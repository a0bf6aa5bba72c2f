// The text that a feed's file has now, which a person has not seen yet and the next save replaces.
import type { OperationRefused } from '../../../operations/operation.ts';

/** What is there instead of what was shown. */
export interface PresentText {
  /** `undefined`: the file is gone. */
  readonly text: string | undefined;
  /** What the next save takes as `seen`: whoever saves again has been shown this. */
  readonly seen: string;
}

/** `undefined`: the refusal is about something else. */
export function presentTextIn({ kind, now }: OperationRefused): PresentText | undefined {
  if (kind !== 'conflict' || !('seen' in now)) return undefined;
  return {
    text: typeof now.text === 'string' ? now.text : undefined,
    seen: typeof now.seen === 'string' ? now.seen : '',
  };
}

export const PresentTextShown = ({ present: { text } }: { present: PresentText }) =>
  text === undefined ? (
    <p class="notice">The file is gone. If you save your text, it is written anew.</p>
  ) : (
    <section aria-labelledby="present">
      <h2 id="present">What the file has now</h2>
      <p>Somebody has changed it meanwhile. Take over into your text what shall stay: if you save, it replaces this.</p>
      <pre class="scroll" tabindex={0}>
        <code>{text}</code>
      </pre>
    </section>
  );
