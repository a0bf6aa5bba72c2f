// Reads the answer to a GET that should be a list page of any size: its jobs as they arrive, and its hints.

import { JOB, type Resource } from '../http/job-address.ts';
import type { Answer, StreamedAnswer } from '../http/transport.ts';
import { BrokenBody } from '../xml/body-text.ts';
import type { ReadJob } from '../xml/decode.ts';
import { timeSlices } from '../xml/time-slices.ts';
import { XmlRefused } from '../xml/xml-events.ts';
import { openListPage, type PageHints } from './list-page.ts';

/** The parsed answer for a page. `body` is only its beginning. */
export interface PageAnswer extends Answer {
  /** What the page says besides its jobs; absent: it is not a complete collection of jobs. */
  readonly hints?: PageHints;
  /** When its headers had arrived, by `performance.now()`. */
  readonly answeredAt: number;
}

/** How much of a body is kept for messages and to tell a web page from a list. */
const KEPT_CHARACTERS = 64 << 10;

/** Takes a job of a page; returns a promise if that takes more than a moment. */
export type TakeJob = (job: ReadJob) => void | Promise<void>;

/** Reads the answer to its end. @param take receives each job at once, even if the page turns out to be no list. */
export async function readPage(
  answer: StreamedAnswer,
  url: URL,
  take: TakeJob,
  resource: Resource = JOB,
): Promise<PageAnswer> {
  const answeredAt = performance.now();
  const { sent, status, header } = answer;
  const page = openListPage(url, resource);
  let body = '';
  let hints: PageHints | undefined;
  let trouble = answer.trouble;
  let refused: XmlRefused | undefined;
  const pause = timeSlices();
  try {
    if (trouble !== undefined) return { sent, status, header, body, trouble, answeredAt };
    for await (const piece of answer.pieces) {
      if (body.length < KEPT_CHARACTERS) body += piece.slice(0, KEPT_CHARACTERS - body.length);
      if (refused === undefined && status >= 200 && status < 300) {
        refused = await refusal(async () => {
          for (const job of page.write(piece)) {
            const taking = take(job);
            if (taking !== undefined) await taking;
            await pause();
          }
        });
      } else if (body.length >= KEPT_CHARACTERS) break;
      await pause();
    }
    refused ??= await refusal(() => {
      hints = page.end({
        link: header('link'),
        total:
          header('x-total-count') || header('x-total') || header('total-count') || rangeTotal(header('content-range')),
        totalPages: header('x-total-pages'),
      });
    });
    if (page.failure !== undefined) trouble = `the site states a failure: ${page.failure}`;
    if (refused?.isTooLarge) trouble = `a limit is exceeded: ${refused.message}`;
  } catch (error) {
    if (!(error instanceof BrokenBody)) throw error;
    trouble = error.message;
  } finally {
    answer.close();
  }
  return {
    sent,
    status,
    header,
    body: body.split('\0').join('\uFFFD'),
    trouble,
    answeredAt,
    hints: trouble === undefined ? hints : undefined,
  };
}

async function refusal(read: () => void | Promise<void>): Promise<XmlRefused | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    if (error instanceof XmlRefused) return error;
    throw error;
  }
}

/** The number of jobs in `items 0-9/57`. */
const rangeTotal = (contentRange: string): string => /\/(\d+)$/.exec(contentRange.trim())?.[1] ?? '';
