// Listeners on a signal that many requests share.
import { expect, it } from 'vitest';
import { onAbort } from '../../src/flow/pause.ts';

it('calls each listener once, except those that were taken back', () => {
  const stopping = new AbortController();
  const called: string[] = [];
  const same = () => called.push('same');
  onAbort(stopping.signal, () => called.push('first'));
  const forget = onAbort(stopping.signal, () => called.push('taken back'));
  onAbort(stopping.signal, same);
  const forgetOne = onAbort(stopping.signal, same);
  forget();
  forgetOne();
  stopping.abort();
  stopping.abort();
  expect(called).toEqual(['first', 'same']);
});

it('calls a listener at once if the signal has aborted, and lets one that is called take back another', () => {
  const called: string[] = [];
  onAbort(AbortSignal.abort(), () => called.push('at once'));
  const stopping = new AbortController();
  onAbort(stopping.signal, () => forgetOther());
  const forgetOther = onAbort(stopping.signal, () => called.push('other'));
  stopping.abort();
  expect(called).toEqual(['at once']);
});
