#!/usr/bin/env bash
# rfc6902 sees no change from one Date to another; deep-diff, jsondiffpatch and six others none from one URL to another.
#
# Version: npm: rfc6902 5.4.0, just-diff 6.0.2, just-compare 2.3.0, deep-diff 1.0.2, deep-object-diff 1.1.9, jsondiffpatch 0.7.7, json-diff 1.0.6,
# microdiff 1.6.0, fast-json-patch 3.1.1, recursive-diff 1.0.9, deep-equal 2.2.3, underscore 1.13.8, remeda 2.62.2, fast-deep-equal 3.1.3, lodash
# 4.18.1, ramda 0.32.0, dequal 2.0.3; Node's util.isDeepStrictEqual.
#
# Expected: A change of any value in a job is seen, or the library refuses values that it cannot compare.
#
# Behaviour: Those that compare an object's own enumerable members find none in a URL, a Map or a Set, rfc6902 none in a Date, so that all of
# one kind are equal. Nothing is raised. lodash, ramda, dequal and Node see all four.
#
# Why it matters: This is how synchronisers decide what to send. A job whose end date or address is the only change is not updated, while each
# change of a text is, so that tests pass. Compare what is sent, as text, instead of objects.
#
# Seen:
#   another Date is not seen by: rfc6902
#   another URL is not seen by: rfc6902 deep-diff deep-object-diff jsondiffpatch json-diff deep-equal underscore remeda
#   another Map is not seen by: rfc6902 just-diff just-compare deep-diff deep-object-diff jsondiffpatch json-diff microdiff fast-json-patch recursive-diff underscore fast-deep-equal
#   another Set is not seen by: rfc6902 just-diff deep-diff deep-object-diff jsondiffpatch json-diff microdiff fast-json-patch recursive-diff underscore fast-deep-equal
#   another text is not seen by: none

source "$(dirname "$0")/support/prepare.sh"
npm_packages rfc6902@5.4.0 just-diff@6.0.2 just-compare@2.3.0 deep-diff@1.0.2 deep-object-diff@1.1.9 jsondiffpatch@0.7.7 json-diff@1.0.6 microdiff@1.6.0 \
  fast-json-patch@3.1.1 recursive-diff@1.0.9 deep-equal@2.2.3 underscore@1.13.8 remeda@2.62.2 fast-deep-equal@3.1.3 lodash@4.18.1 ramda@0.32.0 dequal@2.0.3
cat >program.mjs <<'PROGRAM'
import { isDeepStrictEqual } from 'node:util';
import deepDiff from 'deep-diff';
import deepEqual from 'deep-equal';
import { diff as deepObjectDiff } from 'deep-object-diff';
import { dequal } from 'dequal';
import fastDeepEqual from 'fast-deep-equal';
import jsonPatch from 'fast-json-patch';
import jsonDiff from 'json-diff';
import { diff as jsonDiffPatch } from 'jsondiffpatch';
import justCompare from 'just-compare';
import { diff as justDiff } from 'just-diff';
import lodash from 'lodash';
import microdiff from 'microdiff';
import { equals } from 'ramda';
import recursiveDiff from 'recursive-diff';
import { isDeepEqual } from 'remeda';
import { createPatch } from 'rfc6902';
import underscore from 'underscore';
const isSame = {
  rfc6902: (a, b) => createPatch(a, b).length === 0,
  'just-diff': (a, b) => justDiff(a, b).length === 0,
  'just-compare': justCompare,
  'deep-diff': (a, b) => deepDiff.diff(a, b) === undefined,
  'deep-object-diff': (a, b) => Object.keys(deepObjectDiff(a, b)).length === 0,
  jsondiffpatch: (a, b) => jsonDiffPatch(a, b) === undefined,
  'json-diff': (a, b) => jsonDiff.diff(a, b) === undefined,
  microdiff: (a, b) => microdiff(a, b).length === 0,
  'fast-json-patch': (a, b) => jsonPatch.compare(a, b).length === 0,
  'recursive-diff': (a, b) => recursiveDiff.getDiff(a, b).length === 0,
  'deep-equal': (a, b) => deepEqual(a, b, { strict: true }),
  underscore: underscore.isEqual,
  remeda: isDeepEqual,
  'fast-deep-equal': fastDeepEqual,
  lodash: lodash.isEqual,
  ramda: equals,
  dequal,
  node: isDeepStrictEqual,
};
const changes = {
  Date: [new Date('2026-10-01'), new Date('2026-11-01')],
  URL: [new URL('https://jobs.example/7'), new URL('https://jobs.example/8')],
  Map: [new Map([['pay', 20]]), new Map([['pay', 25]])],
  Set: [new Set(['days']), new Set(['nights'])],
  text: ['2026-10-01', '2026-11-01'],
};
for (const [kind, [before, after]] of Object.entries(changes)) {
  const blind = Object.keys(isSame).filter((name) => isSame[name]({ ref: '7', value: before }, { ref: '7', value: after }));
  console.log(`another ${kind} is not seen by: ${blind.join(' ') || 'none'}`);
}
PROGRAM
node program.mjs | expect_seen
