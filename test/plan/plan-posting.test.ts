import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { planPosting } from '../../src/plan/plan-posting.ts';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';

interface Scenario {
  readonly name: string;
  readonly posting: { record: string; content: string; invalid?: boolean };
  readonly mapping?: { record: string; content: string; missingPulls?: number };
  readonly open?: {
    desired: 'present' | 'absent';
    record?: string;
    content?: string;
    invalid?: boolean;
    missing?: boolean;
  };
  readonly createOnly?: boolean;
  /** The content without the fields that are set only on create. */
  readonly others?: string;
  readonly expect: { kind: string; refresh?: boolean; operation?: string; target?: string };
}

const scenarios = parse(
  readFileSync(join(import.meta.dirname, '../scenarios/plan/postings.yaml'), 'utf8'),
) as Scenario[];
const hashOf = (text: string): Buffer => createHash('sha1').update(text).digest().subarray(0, 16);
const maybeHash = (text: string | undefined) => (text === undefined ? undefined : hashOf(text));
const key = postingKey('k');
const problems = [{ field: 'location-state', value: 'Jalisco', message: 'is no U.S. state' }];

describe('planPosting', () => {
  it.each(scenarios)('$name', (scenario) => {
    const { record, content, invalid } = scenario.posting;
    const posting = { key, fields: { title: content }, contentHash: hashOf(content), notes: [] };
    const { mapping, open } = scenario;
    const planned = planPosting(
      invalid === true ? { kind: 'invalid', posting, problems } : { kind: 'posting', posting },
      hashOf(record),
      {
        mapping: mapping && {
          key,
          siteJobId: siteJobId('1'),
          recordHash: hashOf(mapping.record),
          contentHash: hashOf(mapping.content),
          missingPulls: mapping.missingPulls ?? 0,
        },
        open: open && {
          key,
          desired: open.desired,
          recordHash: maybeHash(open.record),
          contentHash: maybeHash(open.content),
          invalid: open.invalid ?? false,
          missing: open.missing ?? false,
        },
      },
      scenario.createOnly !== true,
      maybeHash(scenario.others),
    );
    const { kind, refresh, ...desired } = scenario.expect;
    expect(planned).toMatchObject(refresh === undefined ? { kind, desired } : { kind, refresh });
    if (scenario.expect.target === 'rejected') {
      expect(planned).toMatchObject({ desired: { reason: { kind: 'rules', problems } } });
    }
  });
});
