// Adds up how the documents of a feed ended, and concludes what was read and whether it is complete.
import type { AnswerMark } from '../plan/weak-proof.ts';
import type { FeedReading, PageRecords } from './feed-reading.ts';
import type { SplitEnd } from './format/format.ts';
import type { SourceDocument } from './source/source.ts';

const WEAK =
  'its end is proven only weakly: it shows no end of its own, and the response has no length that comes from the source itself, so a proxy or a ' +
  'cache may have sent a part of it; a job is deleted only once its posting is missing from two answers that cannot be the same cached one ' +
  '(another ETag, Last-Modified or Age, or an hour between them)';

/** More shortfalls are only counted. */
const MAX_SHORTFALLS = 50;

/** The feed is complete if every document is, and the source has proven that none follows. */
export class DocumentEnds {
  #documents = 0;
  #records = 0;
  #declaredTotal: number | undefined = 0;
  /** Why bytes are missing or the content is refused; without records, the first one is why the reading failed. */
  #refusal: Shortfall | undefined;
  readonly #pages: PageRecords[] = [];
  readonly #shortfalls: Shortfall[] = [];
  #further = 0;
  #advice: string | undefined;
  /** Of the documents that a proxy may have cut. */
  readonly #marks: AnswerMark[] = [];
  #weak: string | undefined;

  /** Notes the end of a document. @param broken why its bytes broke off, if they did. */
  add(
    { name: document, pageOf, stop, relayed, mark }: SourceDocument,
    end: SplitEnd,
    broken: string | undefined,
  ): void {
    this.#documents++;
    const start = this.#records;
    this.#records += end.records;
    if (pageOf !== undefined) this.#pages.push({ list: pageOf, name: document, start, end: this.#records });
    this.#declaredTotal =
      this.#declaredTotal === undefined || end.declaredTotal === undefined
        ? undefined
        : this.#declaredTotal + end.declaredTotal;
    this.#advice ??= end.advice;
    if (relayed !== undefined && end.isOpen === true) {
      this.#weak ??= document;
      this.#marks.push(mark ?? {});
    }
    for (const reason of [broken, end.refusal]) if (reason !== undefined) this.#refuse({ document, reason });
    // What something else than a feed lacks of one says no more.
    if (stop !== undefined && end.refusal !== undefined) return;
    for (const reason of end.shortfalls) this.#note({ document, reason });
  }

  /** Notes why the source broke off between its documents. */
  breakOff(reason: string): void {
    this.#refuse({ reason });
  }

  /** A reading without records that was cut short is a failure; one with records has shortfalls. */
  conclude(bytes: number, version: () => string | undefined): Extract<FeedReading, { kind: 'read' | 'failed' }> {
    if (this.#documents === 0) this.#refuse({ reason: 'the source has no documents' });
    if (this.#records === 0 && this.#refusal !== undefined) {
      return { kind: 'failed', message: this.#textOf(this.#refusal), bytes };
    }
    const shortfalls = this.#shortfalls.map((shortfall) => this.#textOf(shortfall));
    if (this.#further > 0) shortfalls.push(`and ${this.#further} more`);
    return {
      kind: 'read',
      records: this.#records,
      bytes,
      shortfalls,
      // The version of an incomplete reading would make the next one "not modified".
      version: shortfalls.length > 0 ? undefined : version(),
      declaredTotal: this.#declaredTotal,
      ...(this.#weak === undefined || shortfalls.length > 0
        ? {}
        : { weak: { reason: this.#textOf({ document: this.#weak, reason: WEAK }), marks: this.#marks } }),
      ...(this.#pages.length === 0 ? {} : { pages: this.#pages }),
      ...(this.#records > 0 || this.#advice === undefined ? {} : { advice: this.#advice }),
    };
  }

  #refuse(shortfall: Shortfall): void {
    this.#refusal ??= shortfall;
    this.#note(shortfall);
  }

  #note(shortfall: Shortfall): void {
    if (this.#shortfalls.length < MAX_SHORTFALLS) this.#shortfalls.push(shortfall);
    else this.#further++;
  }

  /** Names the document if there are several. */
  #textOf({ document, reason }: Shortfall): string {
    return document === undefined || this.#documents === 1 ? reason : `${document}: ${reason}`;
  }
}

interface Shortfall {
  /** Absent if it is about the whole feed. */
  readonly document?: string;
  readonly reason: string;
}
