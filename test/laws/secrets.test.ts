// Runs every command with secrets that are easy to recognise, and searches everything stored, shown and printed (law 7).
// @module-tag slow
import { describe, expect } from 'vitest';
import { spread } from '../support/extent.ts';
import { canarySearch } from './canary.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { ACCESS_TOKEN, playEverything, SECRETS } from './secret-stage.ts';
import { startTellingSite } from './telling-site.ts';

// In CI with Redis only, whose installation stores more.
describe.each(spread(QUEUES, 1, 2))('with the queue in $queue $note', ({ queue, available }) => {
  it.skipIf(!available)(
    'tokens, keys and passwords appear in no log, database, queue, page or process list',
    { timeout: 1_500_000 },
    async ({ open, onTestFinished }) => {
      const installation = await open({ queue });
      const site = await startTellingSite();
      onTestFinished(() => site.close());
      const { traces, seen } = await playEverything(installation, site, installation.redis?.url);

      // Without these the test proves nothing: the secrets were sent, echoed, and removed from everything stored.
      const all = traces.map(([, content]) => (typeof content === 'string' ? content : '')).join('\n');
      expect(site.keys).toEqual(
        expect.arrayContaining([SECRETS.FEED_KEY, SECRETS.QUERY_KEY, `Bearer ${ACCESS_TOKEN}`]),
      );
      expect(all).toContain('/token answered 400 Bad Request; check the settings of oauth2');
      expect(all).toContain('/refused?… answered 403 Forbidden');
      expect(all).toContain('Title: not for [token removed]');

      const search = canarySearch(...Object.values(SECRETS), ACCESS_TOKEN);
      const found = traces.flatMap(([where, content]) => search(where, content));
      expect([...found, ...seen]).toEqual([]);
    },
  );
});

describe('the search', () => {
  const search = canarySearch('c4nary/T0ken+?');
  it.for([
    'c4nary/T0ken+?',
    'x=c4nary%2FT0ken%2B%3F',
    Buffer.from('c4nary/T0ken+?').toString('base64'),
    Buffer.from('c4nary/T0ken+?:X').toString('base64'),
    Buffer.from('ab c4nary/T0ken+? cd').toString('base64'),
    Buffer.from('abc c4nary/T0ken+?').toString('base64url'),
    Buffer.from('c4nary/T0ken+?').toString('hex'),
  ])('finds %s', (text) => {
    expect(search('here', `before${text}after`)).not.toEqual([]);
  });

  it('finds nothing in other texts', () => {
    expect(search('here', 'canary and token')).toEqual([]);
  });
});
