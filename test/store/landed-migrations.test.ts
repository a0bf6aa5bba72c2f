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
  'src/store/migrations/0005_record_number.sql': 'd329ead2288c3faec7acbf6e17fb33dc7d64761f27e222fb7cbd8163d3206616',
  'src/store/migrations/0006_feed_warnings.sql': '7fef1114204498c041cb68e056806109241a58feb365c384c08d326e409efd3c',
  'src/store/migrations/0007_detail.sql': '8d1a68bbd97ee43b3cb923c55440f1d2b0ed285640ac8a78b0e85c8953c667fa',
  'src/store/migrations/0008_detail_record.sql': '0704f98034e7faca18b5d0e416e119df59447f2d4ec3c2d3e753dab9dd05c469',
  'src/store/migrations/0009_hold_reason.sql': 'dc04968a78199012e07576aad436e2eb78073716bc1da08bfcf532a7d2061ed5',
  'src/store/migrations/0010_unlisted_detail.sql': '01b2282c3028f672de5729899cf9715dcf4f8a138d9fa8d651074265cad4b6c2',
  'src/store/migrations/0011_failed_detail.sql': '7e13e491f2c7f205ddcfba7edb54d677747a7f8bc0fd5f1e9c112637e46bba2f',
  'src/store/migrations/0012_counted_states.sql': '201513bb64d47d650be8c81c5b29693be099857d8d59827b2b6896eb550fe6d4',
  'src/store/migrations/0013_review_entry.sql': 'cf4d8c65f57a8b4706c4f6b5853a0bcf83d0af163da4eb613edb056c2e80aa5e',
  'src/store/migrations/0014_alerts.sql': 'e49f507eca660a60aebdc6f243cd7f2c4c7bc0da25af1eba960c72cc19574f34',
  'src/store/migrations/0015_bulk_action.sql': '02c49fa853ae284ca16b89456061c3ab1a807d89673efe385bd3161905b05ba9',
  'src/store/migrations/0016_posting_events.sql': '80e10325a053db0299a9bf0394f271f567cd4f0d00bed4ec00fec6922ee1d926',
  'src/store/migrations/0017_unplanned_detail.sql': 'b3ae0a875c6029adb5cbd1f1a011b8d3ebf0294548c4d1dc67443194cc75e776',
  'src/store/migrations/0018_web.sql': '918b4ed0e74528fcee63754120071287734aefc062006c749e2ee2cd40cab494',
  'src/store/migrations/0020_undo.sql': 'c674d318416515d2f5b9c63fac72a5506603e0531ddf3e457ef6294f2a3bbf12',
  'src/store/migrations/0022_rekey.sql': 'ac0e8217235574a74f15949c9a700494d76428f9b1169898a458db03bdb52cc3',
  'src/store/migrations/0024_group_notes_and_rules.sql':
    '36cc54a6533ece9d301a0a0dcd8bd011f328fd9d54fd5e4589a4e712157a6433',
  'src/store/migrations/0026_entry_by_key.sql': '8982b781cc22cacef6bcd41f489bd535fc12e8bb3a67dc6efa7f77026e13ea23',
  'src/store/migrations/0028_pages_of_pulls.sql': '785dda6f0932309abd98cb4d8d463be9da0a3c266cb2dc71b4a6156c43beccd6',
  'src/store/migrations/0029_pages_of_activity.sql': '2e424a0ddb1c0efe34a14b9ececc8bb57e562764bd7c161f6566a49d3170c269',
  'src/store/migrations/0032_restored.sql': '455a1c6a751ee98ccaedff5ce905cffcdca13d162ac1286b285d3c60fa92f029',
  'src/store/migrations/0036_feed_verify.sql': '5f168d335d126e4aabc4d72c08070cff54009e6e69bb923df71be867db89ea7e',
  'src/store/migrations/0038_posting_expiry.sql': 'd039685b7a6ab69f595bcc59c8df5840909fbf6afe30c9596759bbdc5a0d3c1a',
  'src/store/migrations/0040_adopt_run.sql': '889c0a2ca0af70dcb2be80d27d9220309925f2709a54cea49c7969b6183b2308',
  'src/store/migrations/0042_jobs_by_title.sql': '5f214ba80d6fda4f91c89478f4052b6c2895dbbde9bac57b875f10525d212464',
  'src/store/migrations/0043_kept_record.sql': '0252ac8715b395acb04e2668281fe761bde6875902412bcd8b5c813ff9d40cf2',
  'src/store/migrations/0045_review_counts.sql': '8cf613306676628a15f1fd84a086f5b70a2178b59376aacc75d5f8f3797c72c8',
  'src/store/migrations/0046_mapping_counts.sql': '95dea6c442ae1b7f573e33acaa24ce3e3d0184c46f318bfce28dbce57987789d',
  'src/store/migrations/0047_review_words.sql': 'cd8b30784193192ce5d5ae6062dc6a5b7167d0a68615975f9d7954837bc92a24',
  'src/store/migrations/0048_jobs_by_words.sql': '54a9a978ea0271fbff599fd70b914dde4b777768fef69a545818dbba035d97f6',
  'src/store/migrations/0050_bulk_doubts.sql': '49c2163e6988aaee957b3302b2a160098e2072c6f57c075914f062732eb569a5',
  'src/store/migrations/0053_ended_content.sql': 'bbd181c26e7e6d9c36ddffb2a610e5572e4303759cc00fce3891aa63924dbb80',
  'src/store/migrations/0056_adopt_decisions.sql': '581539b8e68de9064702f881edebf08fa13c4ba825e15a5a0c032f9f831533e6',
  'src/store/migrations/0057_expiry_by_age.sql': '9feb1d742e104844f9f06209a7da0940632c7ca19cd51c99a07d28247a38fcb2',
  'src/store/migrations/0058_rekey_groups.sql': 'afc586e6e5bde6c2e1664fa1e1a784d558640314decfa6406d23e2cca0c74e76',
  'src/store/migrations/0059_counted_changes.sql': '89e81b6edd9ba099fe70ae7232df2c3d825c4400cf8f2fd0729c1248dccd6997',
  'src/store/migrations/0062_rekey_lines.sql': '5acb6ccde33444530290c80d8a6f0e748cf4a3c1282904bcd2c0ba95dd738898',
  'src/store/migrations/0063_rekey_triggers.sql': '59bed99ad263617f395cd579e63e8c1eaafd3af1a8dde436563d3c63657c3dd7',
  'src/store/migrations/0065_adopt_found.sql': '20f0f87b87944dcb0b652a2c8b69ec3a53bcb64c0248ff27917d207bf84f77dd',
  'src/store/migrations/0066_edited_since.sql': '534fe8c94d2bf60f2cd2f18978b4b1c4bb37b15cd8c2992618e705ff4c4ebbcf',
  'src/store/migrations/0067_entry_part.sql': '58d4e130c1dc34176d39e03a0c5d0059c513c90072546e3d59dc23a07534a216',
  'src/store/migrations/0068_create_only_fields.sql':
    '110400dd80df8991d5fd8da2837ea282e21f87762532dc82a832a2cc05557bc5',
  'src/store/migrations/0069_unscheduled.sql': '26a4e511cbb6bbc2cb30c4ed6591603b65cb3062e964f73db3cf2fb9d74a4d95',
  'src/store/migrations/0070_titled_jobs.sql': '9a533102cc5b07dcdb279e29b9cc3f324fa958b348673337790408118fbf7791',
  'src/store/migrations/0071_former_pause.sql': 'c30c7108ebdaf70d5e228e01cf4c1feea7f29fcf0f4d3483fbcf691eca1e86f5',
  'src/store/migrations/0072_feed_policy.sql': '8a96aebb7431e38496e359cb5d6e41c69e1b665a1196473a8ec0a5c3b5ce50b0',
  'src/store/migrations/0073_found_features.sql': 'f2ff448505f5b4b0aa97d77c6e9d5fa4113be2ef12ef732a8bbf587affd2611a',
  'src/store/migrations/0074_reference_kept.sql': 'e8aee90a2c6304161d767d5fc701f72feae0e17f8535587ee2d5bc2276c5e044',
  'src/store/migrations/0075_shown_forms.sql': 'c80c461401fb9c442d6d0739a3b25fce6202691a4e3980693c3b9561cd6807cb',
  'src/store/migrations/0076_set_up_suspects.sql': '00324cb21d5d05a42aa3587094a7b50cdf34bd0f1ea8c544904a91d3fd149824',
  'src/store/migrations/0077_accepted_token.sql': '1f14fa54d534154065f96c30d6dbbde77558586f0850b22837e5675e0a010c21',
  'src/store/migrations/0078_rekey_question.sql': '190e42edabdb97b582dd6702f68aeb34e70e2641684892dfb207eb60c042150e',
  'src/store/migrations/0079_membership_rule.sql': 'fdec990b35080db817275e6f9f3fecc4756743128a68593c90c48ffef594a607',
  'src/store/migrations/0080_weak_proof.sql': '09eb0a69ea9884621a9e7116eaa6fabcc196045ea86cf3f10d76abbada742f2f',
  'src/store/migrations/0083_shown_jobs.sql': '62559322cf4b62cc4b1b7471db1a7de290684134ff801befa3dd0c0a29e22e94',
  'src/store/migrations/0084_expired_bare.sql': '9cc7927246338ace0c82c4252175d6d760458eb0e5a26efd7d2e4d499103b837',
  'src/store/migrations/0085_deleted_job.sql': '637f51b58acc949589e300fb13a3f475e1a4c52750a555896112e5d5ef2a6d05',
  'src/store/migrations/0086_recovered.sql': '11670f0b97709db74d4ec3b27a0d724f05132cf683aedb03ec9f3be6fcf8afa3',
  'src/sandbox/migrations/001-accounts-and-jobs.sql':
    '9190b7c6824183b5c381deff618d6503f3e663174ddec98651b4410ea199352f',
  'src/sandbox/migrations/002-deleted-jobs.sql': 'b4c16b7d917128d5b0c1ffee3ee84e15e9ef66c1ff4f7b8ea40d135332dd7dbb',
  'src/store/migrations/0090_dated_record.sql': '4ba5000b844e95d6bb53c6a08e2303cf326d3500d022a28e10badb1fc0dd182b',
  'src/store/migrations/0091_entry_circumstances.sql':
    '23c60c6a4c601b0df8212910d0ed25627f3ef7340ae5ef965b46ff9a62136e8f',
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
