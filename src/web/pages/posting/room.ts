// Keeps a page small whatever a feed or site has written: texts are shown from their beginning until the room is used up.

export interface Shown {
  readonly text: string;
  /** How many characters of it are not shown. */
  readonly left: number;
}

export interface Room {
  /** At most `most` characters of the text. */
  take(text: string, most: number): Shown;
  /** The whole text, if it is short enough and there is room for it. */
  whole(text: string, most: number): string | undefined;
}

/** As HTML has it. */
const sizeOf = (text: string): number => Buffer.byteLength(text) + 5 * (text.match(/[&<>"']/g)?.length ?? 0);

/** @param bytes for all texts together, as HTML has them */
export function pageRoom(bytes: number): Room {
  let left = bytes;
  const take = (text: string, most: number): Shown => {
    let shown = text.slice(0, Math.min(most, Math.max(left, 0)));
    while (sizeOf(shown) > left && shown.length > 0) shown = shown.slice(0, shown.length >> 1);
    // No half of a pair.
    if (shown.length < text.length) shown = shown.replace(/[\ud800-\udbff]$/, '');
    left -= sizeOf(shown);
    return { text: shown, left: text.length - shown.length };
  };
  return {
    take,
    whole: (text, most) => (text.length <= most && sizeOf(text) <= left ? take(text, most).text : undefined),
  };
}
