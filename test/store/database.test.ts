import { expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { freshDatabase } from '../support/database.ts';

it('an idle connection that is lost is reported without the connection itself', async () => {
  const database = await freshDatabase();
  const errors: Error[] = [];
  const db = openDatabase(database.url, { max: 1, onError: (error) => errors.push(error) });
  const other = openDatabase(database.url, { max: 1 });
  const [row] = await db.query('select pg_backend_pid() as pid');
  await other.query('select pg_terminate_backend($1)', [row?.pid]);
  await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 10_000 });
  expect(errors[0]).not.toHaveProperty('client');
  await Promise.all([db.close(), other.close()]);
  await database.drop();
});
