// A migration that has landed is never edited: databases that have applied it would keep the former schema.
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

/** SHA-256 of each migration that has landed. */
const LANDED: Readonly<Record<string, string>> = {
  'src/store/migrations/0100_schema.sql': '0f51bb9fa79e7e53e031792f0c9c6b6e760b99f7c695a7f35775238037eba554',
  'src/store/migrations/0101_revisions_by_time.sql': '995a0690fd28c1448a97b8c0045cff2dff2c501f908ce391d107efeb14807d4a',
  'src/store/migrations/0102_pause.sql': '684dd17da9bb599ed8080bd6ffc97065e2f2a019340dbce72316ffef8cfa9c0c',
  'src/store/migrations/0103_feed_files.sql': '4722da01c5d7753b7418e4b39dc5f773fee6ec5b0b06f989e7c5c7ddf02eb2be',
  'src/store/migrations/0104_changes.sql': 'f38f866992837ca153fffa16aaaf53894b21636061006295818c68687847283d',
  'src/store/migrations/0105_addresses_of_feed_files.sql':
    '647f750fc6945adc560b2f15b04994f8080ae65b3db7ee99340b2a19d5847b0b',
  'src/store/migrations/0106_mail_recipients.sql': '655ecffb644e196f3500638e3aee11a9abd4225e18ff045acb116b038df077c2',
  'src/store/migrations/0107_compressed_documents.sql':
    'e143300b84a0a4cf88eed723e280420af2c264200d5f5bc679b364035959908c',
  'src/store/migrations/0108_timeline.sql': '8ee64e26d34e22eec50ff7d0ea2660610e9dd56070d2a6f72c5186bd5a4ce0a7',
  'src/store/migrations/0109_claims_without_fields.sql':
    'fd5109e156305d457ff7b07f14ef3810dee9ab6b2a2f88358aa65aec8a865510',
  'src/store/migrations/0110_uploads.sql': '7cdc62cc8e8687df936f31a743108524a0df56c0d5a65158fae9953d69491c6e',
  'src/store/migrations/0111_room_for_claims.sql': '2871de20be90f2d25d17902c4a66f3d9cbc4d5bd00be4769c0c5f3cd2f531615',
  'src/store/migrations/0112_parts.sql': '92d2b7d85a2140ecf3a6b1aacca26cd4ef411bfabefde415cdf25654604868c6',
  'src/store/migrations/0113_uploads_of_a_backup.sql':
    'b97f6c57e26b7152e661fba2c4baff959d62430d1aa012c7dda21223ed80df2e',
  'src/store/migrations/0114_removed_changes.sql': 'f219639f29653325a9b74259860a6898339559277c62cf30d2cb3b51ec64d94d',
  'src/store/migrations/0115_staged_uploads.sql': '5ff824b7293fba5da377e9bfe555ea02d2eee0d831a455c08b74724cb8f211ed',
  'src/store/migrations/0116_room_for_records.sql': '19dccc79bf11063b1472c30fb06d57799ef696c279bc2f054e3b1585719bd634',
  'src/store/migrations/0117_full_readings.sql': 'cb586875e9144ba763e0df2c1df9af68123fc71b6e4a30477642fc017e32a5e2',
  'src/store/migrations/0118_queries_of_lists.sql': '39eb5538b55b0198ca5e6a9429137cef0899a8b8d19662f63311a719a2c750be',
  'src/store/migrations/0121_taken_references.sql': 'aa16024b918e12197f5354f5ec98d5ff9109293f84a496336bfafd0777ba460d',
  'src/store/migrations/0122_filled_sources.sql': '805293b9da8f37c553ec5072155cce6e0306437f11ad6f5a37348a68613dc636',
  'src/store/migrations/0123_listed_records.sql': '6e44365b8f11e716aad9a7175183063a5f7d9b43c7e245ff6cb797924e8cbbe0',
  'src/store/migrations/0124_copies.sql': '32b7780df8a9902e01fe809a40180f9df701ed863fa4e15163cded00234253ca',
  'src/sandbox/migrations/001-accounts-and-jobs.sql':
    '9190b7c6824183b5c381deff618d6503f3e663174ddec98651b4410ea199352f',
  'src/sandbox/migrations/002-deleted-jobs.sql': 'b4c16b7d917128d5b0c1ffee3ee84e15e9ef66c1ff4f7b8ea40d135332dd7dbb',
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
