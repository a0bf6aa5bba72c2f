import { describe, expect, it } from 'vitest';
import { AccountingError, checkAccounts } from '../../src/plan/accounting.ts';

const seen = {
  seen: 25,
  unchanged: 1,
  created: 2,
  updated: 3,
  rejected: 1,
  in_doubt: 1,
  pending: 2,
  failed: 3,
  duplicates: 4,
  unreadable: 3,
  skipped: 5,
};
const gone = { gone: 12, deleted: 1, held: 2, grace: 3, kept: 3, pendingDeletes: 1, failedDeletes: 2 };

describe('checkAccounts', () => {
  it('accepts counts that add up', () => {
    expect(() => checkAccounts(seen, gone)).not.toThrow();
  });

  it('accepts an incomplete feed, in which nothing counts as gone', () => {
    expect(() => checkAccounts(seen, undefined)).not.toThrow();
  });

  it.each(Object.keys(seen))('throws for one %s too many', (name) => {
    const wrong = { ...seen, [name]: seen[name as keyof typeof seen] + 1 };
    expect(() => checkAccounts(wrong, gone)).toThrow(AccountingError);
    expect(() => checkAccounts(wrong, gone)).toThrow(/seen \d+ is not \d+ \(unchanged/);
  });

  it.each(Object.keys(gone))('throws for one %s too many among the gone', (name) => {
    const wrong = { ...gone, [name]: gone[name as keyof typeof gone] + 1 };
    expect(() => checkAccounts(seen, wrong)).toThrow(/gone \d+ is not \d+ \(deleted/);
  });
});
