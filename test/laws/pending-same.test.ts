// Changes that stay open over several pulls, while the bytes of their records change.
import { describe, expect } from 'vitest';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

describe('an open change', () => {
  it('stays open if its record has other bytes and the same content', async ({ open }) => {
    const installation = await open();
    await installation.sandbox.setFaults([{ name: '403', on: ['create'] }]);
    const list = [posting('a'), posting('b')];
    expect(await installation.syncOf(list)).toMatchObject({ failed: 2 });
    await installation.writeFeed(feedXml(list).replaceAll('</city>', '</city><noise>1</noise>'));
    expect(await installation.sync()).toMatchObject({ failed: 2, seen: 2, gone: 0 });
    await installation.writeFeed(feedXml(list).replaceAll('</city>', '</city><noise>2</noise>'));
    expect(await installation.sync()).toMatchObject({ failed: 2, seen: 2, gone: 0 });
    await heal(installation);
    await checkLaws(installation, list);
  });
});
