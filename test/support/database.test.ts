import { afterAll, describe, expect, it } from 'vitest';
import { freshDatabase } from './database.ts';
import { runSql } from './sql.ts';

describe('freshDatabase', () => {
  it('keeps databases apart', async () => {
    const one = await freshDatabase({ empty: true });
    const two = await freshDatabase();
    afterAll(() => Promise.all([one.drop(), two.drop()]));
    await runSql(one.url, 'create table mark (id int)');
    await expect(runSql(two.url, 'select * from mark')).rejects.toThrow('does not exist');
    expect(await runSql(one.url, 'select * from mark')).toEqual([]);
  });
});
