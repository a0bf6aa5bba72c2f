// Tells from the texts at one path what a program has made of them before the feed was made: what it lost cannot be read from the feed.

export interface LostTexts {
  /** Records that show it, and one of their texts. */
  readonly count: number;
  readonly example: string;
  /** What follows "2 of the 5 records that were read have ". */
  readonly what: string;
  /** What follows the example. */
  readonly so: string;
}

const AS_TEXT = 'export the column as text';
const JOINED = `so that different references may have become one; ${AS_TEXT}`;

/** As spreadsheets, SheetJS, R and Java write long numbers: `1.23457E+11`, `1.23456789012346E+016`, `1e+05`, `1.0E7`. */
const SHORTENED = /^\d(?:\.\d+E\+?|E\+)\d+$/i;
/** As readr does. Among other texts than numbers it may be a reference. */
const PERHAPS_SHORTENED = /^\dE\d+$/i;
const DIGITS = /^\d+$/;
/** As pandas writes whole numbers of a column that has an empty cell. */
const WITH_DECIMALS = /^\d+\.0+$/;
/** As spreadsheets show 10-1 and 10/2026. */
const SHOWN_DATE = /^(?:\d{1,2}-[A-Z][a-z]{2}|[A-Z][a-z]{2}-\d{2})$/;
const DATE = /^(?:\d{4}-\d{2}-\d{2}(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?|\d{1,2}\/\d{1,2}\/(?:\d{2}|\d{4}))$/;
/** Of spreadsheets; LibreOffice has numbers. */
const FORMULA_ERROR = /^(?:#(?:N\/A|REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|SPILL!|CALC!)|Err:\d{3}|#{3,})$/;
/** What JavaScript makes of an object where a text is expected. */
const NO_TEXT = /^\[object [A-Z]\w*\]$/;

/** From so many on, texts of one form are no coincidence. */
const FEWEST = 3;
/** Chances of one in 4,096. */
const EVIDENT_BITS = 12;
/** Of a number, programs show so many, or one more. */
const SHOWN_DIGITS = 15;
/** Whole numbers are exact in a double up to 2 to the power of these. */
const EXACT_BITS = 53;
const MOST_DIGITS = 40;

class Tally {
  count = 0;
  example = '';
  add(text: string): void {
    if (this.count === 0) this.example = text;
    this.count++;
  }
}

export class TextForms {
  #texts = 0;
  #digits = 0;
  readonly #shortened = new Tally();
  readonly #perhapsShortened = new Tally();
  readonly #withDecimals = new Tally();
  readonly #shownDates = new Tally();
  readonly #dates = new Tally();
  readonly #errors = new Tally();
  readonly #objects = new Tally();
  readonly #long = new LongNumbers();

  add(written: string): void {
    const text = written.trim();
    if (text === '' || text.length > MOST_DIGITS) return;
    this.#texts++;
    if (DIGITS.test(text)) {
      this.#digits++;
      this.#long.add(text);
    } else if (SHORTENED.test(text)) this.#shortened.add(text);
    else if (PERHAPS_SHORTENED.test(text)) this.#perhapsShortened.add(text);
    else if (WITH_DECIMALS.test(text)) this.#withDecimals.add(text);
    else if (SHOWN_DATE.test(text)) this.#shownDates.add(text);
    else if (DATE.test(text)) this.#dates.add(text);
    else if (FORMULA_ERROR.test(text)) this.#errors.add(text);
    else if (NO_TEXT.test(text)) this.#objects.add(text);
  }

  /** What any field may show. */
  lostValues(): readonly LostTexts[] {
    return [
      ...shown(
        this.#errors,
        'the error of a formula',
        'which would be sent as it is; correct the sheet, or export its values',
      ),
      ...shown(
        this.#objects,
        'what JavaScript writes for an object',
        'so that the value is lost; name a member of the object',
      ),
    ];
  }

  /** What identifiers show. @param isWhole they are the keys, and no part of them. */
  lostKeys(isWhole: boolean): readonly LostTexts[] {
    const numbers = this.#digits + this.#shortened.count + this.#perhapsShortened.count;
    const areNumbers = numbers === this.#texts && numbers >= FEWEST;
    return [
      ...shown(this.#shortened, 'a number that a program shortened', JOINED),
      ...(areNumbers ? shown(this.#perhapsShortened, 'a number that a program shortened', JOINED) : []),
      ...shown(this.#long.rounded(), 'a number that a program seems to have rounded', JOINED),
      ...(isWhole ? this.#madeKeys() : []),
    ];
  }

  #madeKeys(): readonly LostTexts[] {
    const isAll = ({ count }: Tally) => count >= 2 && count === this.#texts;
    const dates = this.#shownDates.count > 0 ? this.#shownDates : isAll(this.#dates) ? this.#dates : new Tally();
    const decimals = isAll(this.#withDecimals) ? this.#withDecimals : new Tally();
    return [
      ...shown(dates, 'a date', `as programs make of references such as 10-1; if they are none, ${AS_TEXT}`),
      ...shown(
        decimals,
        'a number with decimals',
        `as programs write whole numbers of a column with an empty cell: leading zeros are lost, and all keys change once no cell is empty; ${AS_TEXT}`,
      ),
    ];
  }
}

function shown({ count, example }: Tally, what: string, so: string): readonly LostTexts[] {
  return count === 0 ? [] : [{ count, example, what, so }];
}

/**
 * Numbers that no double holds exactly end in zeros if a program has rounded them to the 15 or 16 digits that it shows, or are
 * all numbers that a double does hold. Identifiers that are multiples of a power of two, as those made of a time and a counter, are held
 * by doubles as well: those are multiples of twice what a double can tell apart.
 */
class LongNumbers {
  readonly #all = new Tally();
  #withZeros = 0;
  #held = 0;
  #bits = 0;
  #hasFinest = false;

  add(text: string): void {
    if (text.length <= SHOWN_DIGITS) return;
    const value = BigInt(text);
    this.#all.add(text);
    const zeros = text.length - text.replace(/0+$/, '').length;
    if (zeros >= Math.max(1, text.length - SHOWN_DIGITS - 1)) this.#withZeros++;
    if (BigInt(Number(text)) !== value) return;
    this.#held++;
    const spare = Math.max(0, value.toString(2).length - EXACT_BITS);
    this.#bits += spare;
    if ((value >> BigInt(spare)) % 2n === 1n) this.#hasFinest = true;
  }

  rounded(): Tally {
    const { count } = this.#all;
    const haveZeros = count >= FEWEST && this.#withZeros === count;
    const areHeld = count >= FEWEST && this.#held === count && this.#bits >= EVIDENT_BITS && this.#hasFinest;
    return haveZeros || areHeld ? this.#all : new Tally();
  }
}
