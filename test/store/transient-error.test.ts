// Which database errors are transient, and how they are described.
import { describe, expect, it } from 'vitest';
import { describePassing, isOfStatement, isPassing, isSaidByServer } from '../../src/store/postgres/transient-error.ts';

const coded = (code: string, message = 'so it is', more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more });

describe('errors of the database', () => {
  it.each([
    '08006',
    '08P01',
    '25006',
    '25P03',
    '40001',
    '40P01',
    '53100',
    '53200',
    '53300',
    '53400',
    '55P03',
    '57014',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
    '57P05',
    '58030',
  ])('%s is transient, and reported by the server', (code) => {
    expect([isPassing(coded(code)), isSaidByServer(coded(code)), isOfStatement(coded(code))]).toEqual([
      true,
      true,
      false,
    ]);
    expect(describePassing(coded(code))).toContain(`(${code}: so it is)`);
  });

  it('a row for which a new part of its table was made passes, one that a constraint refuses does not', () => {
    const moved = coded('23514', 'new row for relation "request_default" violates partition constraint');
    const refused = coded('23514', 'new row violates check constraint', { constraint: 'change_state_check' });
    expect([moved, refused].map((error) => [isPassing(error), isOfStatement(error)])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it.each(['ECONNREFUSED', 'EHOSTUNREACH', 'ECONNRESET'])('%s is transient, and may mean a wrong address', (code) => {
    expect([isPassing(coded(code)), isSaidByServer(coded(code))]).toEqual([true, false]);
  });

  it('a missing socket file is transient, another missing file is not', () => {
    expect(isPassing(coded('ENOENT', 'no socket', { syscall: 'connect' }))).toBe(true);
    expect(isPassing(coded('ENOENT', 'no file', { syscall: 'open' }))).toBe(false);
  });

  it('a rolled-back transaction is transient if its first error is', () => {
    const rolledBack = (cause: Error) => new Error('the transaction ended with ROLLBACK instead of COMMIT', { cause });
    expect(isPassing(rolledBack(coded('25006')))).toBe(true);
    expect(isPassing(rolledBack(coded('23505')))).toBe(false);
  });

  it.each([
    ['23505', true],
    ['42703', true],
    ['22021', true],
    ['28P01', false],
    ['3D000', false],
    ['42501', false],
  ])('%s is not transient; fault of the statement itself: %s', (code, ofStatement) => {
    expect([isPassing(coded(code)), isOfStatement(coded(code))]).toEqual([false, ofStatement]);
    expect(describePassing(coded(code))).toBeUndefined();
  });
});
