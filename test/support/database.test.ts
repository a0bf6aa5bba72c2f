// The test databases are separate.
import { afterAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from './database.ts';
import { runSql } from './sql.ts';

describe('createTestDatabase', () => {
  it('keeps databases apart', async () => {
    const one = await createTestDatabase({ empty: true });
    const two = await createTestDatabase();
    afterAll(() => Promise.all([one.drop(), two.drop()]));
    await runSql(one.url, 'create table mark (id int)');
    await expect(runSql(two.url, 'select * from mark')).rejects.toThrow('does not exist');
    expect(await runSql(one.url, 'select * from mark')).toEqual([]);
  });
});
