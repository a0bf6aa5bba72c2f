#!/usr/bin/env bash
# A schema of zod for money refuses 19.99 and 4.35 once it is JSON Schema in ajv; zod itself accepts both.
#
# Version: npm: zod 4.6.7, ajv 8.20.0.
#
# Expected: z.toJSONSchema writes what zod checks: a pay that the writer accepts is accepted by the reader.
#
# Behaviour: multipleOf(0.01) becomes "multipleOf": 0.01. zod compares decimal digits; ajv divides, 19.99 / 0.01 is 1998.9999999999998, and
# that is no whole number. 20.10 and 12.50 pass in both, so that a test with such a pay shows nothing. stringbool() becomes any text.
#
# Why it matters: A job site publishes its schema, and agencies check their feeds with it: some rates of pay are refused that the site would take,
# and words for "remote" pass that it refuses.
#
# Seen:
#   20.1: zod true, ajv true
#   12.5: zod true, ajv true
#   19.99: zod true, ajv false
#   4.35: zod true, ajv false
#   remote "ja": zod false, ajv true

source "$(dirname "$0")/support/prepare.sh"
npm_packages zod@4.6.7 ajv@8.20.0
cat >program.mjs <<'PROGRAM'
import Ajv from 'ajv/dist/2020.js';
import { z } from 'zod';
const ajv = new Ajv.default();
const show = (name, schema, value) =>
  console.log(`${name}: zod ${schema.safeParse(value).success}, ajv ${ajv.validate(z.toJSONSchema(schema, { io: 'input' }), value)}`);
for (const pay of [20.1, 12.5, 19.99, 4.35]) show(pay, z.number().multipleOf(0.01), pay);
show('remote "ja"', z.stringbool(), 'ja');
PROGRAM
node program.mjs | expect_seen
