// A migration that has landed is never edited: databases that have applied it would keep the former schema.
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

/** SHA-256 of each migration that has landed. */
const LANDED: Readonly<Record<string, string>> = {
  'src/store/migrations/0001_schema.sql': '8e7117a1e2bb43cd344ad7d09975f27ea838eaf9b5e22626a433fb9d54d9dc2f',
  'src/store/migrations/0002_messages.sql': '11dc3951cf0afdb55c4859b36a5346b6371db69bc47b18542c68a34be8c36acc',
  'src/store/migrations/0003_source_version.sql': 'faaac1aee32c4bb342850318ee804783591d0884c71ffde248beacc80db1e5c8',
  'src/store/migrations/0004_skipped.sql': '6746b713e4a9018f7499f4e737a4c8da911ef26304c2dbe6f49f2b069f714c3d',
  'src/sandbox/migrations/001-accounts-and-jobs.sql':
    '9190b7c6824183b5c381deff618d6503f3e663174ddec98651b4410ea199352f',
};

const INSTEAD =
  'never edit or remove a migration that has landed, not even its comments: add a new file. List the digest of a new file in LANDED';

it('migrations that have landed keep their text', () => {
  const digests = ['src/store/migrations', 'src/sandbox/migrations'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder)).map((name) => {
      const text = readFileSync(join(packageRoot, folder, name), 'utf8');
      return [`${folder}/${name}`, hash('sha256', text, 'hex')] as const;
    }),
  );
  expect(Object.fromEntries(digests), INSTEAD).toEqual(LANDED);
});
