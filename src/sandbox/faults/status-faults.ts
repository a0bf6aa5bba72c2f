// Faults with an HTTP status: errors of the site or of a proxy in front of it, and refusals.
import { failureXml } from '../xml/error-xml.ts';
import type { FaultParameters } from './fault-parameters.ts';
import { fault } from './fault-row.ts';

const answer = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  new Response(failureXml(message), {
    status,
    headers: { 'content-type': 'application/xml; charset=utf-8', ...headers },
  });

function retryHeader({ retryAfter, seconds }: Pick<FaultParameters, 'retryAfter' | 'seconds'>): Record<string, string> {
  if (retryAfter === 'none') return {};
  // A date has whole seconds (RFC 9110, 5.6.7). Round up: a client that waits for it must not be early.
  const date = new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000);
  return { 'retry-after': retryAfter === 'date' ? date.toUTCString() : String(seconds) };
}

const failing = <const Name extends string>(name: Name, description: string, message: string) =>
  fault(name, `${description}; made: the request is processed anyway`, { made: false }, async (step, { made }) => {
    if (made) await step.process();
    return answer(Number(name), message);
  });

const refusing = <const Name extends string>(name: Name, description: string, message: string, headers = {}) =>
  fault(name, description, {}, async () => answer(Number(name), message, headers));

const waiting = <const Name extends string>(
  name: Name,
  description: string,
  message: string,
  defaults: Pick<FaultParameters, 'retryAfter' | 'seconds'>,
) => fault(name, description, defaults, async (_, given) => answer(Number(name), message, retryHeader(given)));

export const status500 = failing('500', 'internal error', 'Something went wrong.');
export const status502 = failing('502', 'bad gateway', 'The server behind this one gave no answer.');
export const status504 = failing('504', 'gateway time-out', 'The server behind this one took too long.');
export const status503 = waiting('503', 'not available; nothing is processed', 'Down for maintenance.', {
  retryAfter: 'none',
  seconds: 1,
});
export const status429 = waiting('429', 'too many requests; nothing is processed', 'Too many requests.', {
  retryAfter: 'seconds',
  seconds: 1,
});
export const status401 = refusing(
  '401',
  'the token is not accepted, as after a change of the password',
  'The token is not valid.',
  { 'www-authenticate': 'Basic realm="Jobs"' },
);
export const status403 = refusing('403', 'not allowed', 'You are not allowed to do this.');
export const status404 = refusing('404', 'not found, as if somebody deleted the job by hand', 'There is no such job.');
