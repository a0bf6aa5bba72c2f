// No command prints text of a feed that would control the terminal; JSON keeps the value.
import { expect, it } from 'vitest';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

// Limited to what XML can carry: C0 controls are removed when a record is read.
const HOSTILE = '\u009b31m\u202egnp\u2066\u{e0041}\u2028\u007f';
const STEERS = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u{e0000}-\u{e007f}]/u;

const mirror = openedForEach(() => openMirror());

it('plan, sync, review, why, status, pulls, mappings and report do not print it', async () => {
  await mirror.writeFeed(
    feedXml([posting('one', { title: `Nurse ${HOSTILE}` }), posting('two', { state: `Jalisco ${HOSTILE}` })]),
  );
  const plan = await runProgram(mirror, 'plan');
  expect(plan.out).toContain('\\u202e');
  const json = await runProgram(mirror, 'plan', '--json');
  const planned = json.json<{ key: string; fields: Record<string, { to: string }> }>();
  expect(planned.find(({ key }) => key === 'one')?.fields.title?.to).toContain('\u202egnp');
  const outputs = [plan, json];
  for (const args of [
    ['sync', '--verbose'],
    ['review', 'list'],
    ['review', 'list', '--json'],
    ['why', 'acme', 'two'],
    ['status'],
    ['pulls'],
    ['mappings', 'list'],
    ['report', 'acme'],
    ['report', 'acme', '--json'],
    ['report', 'acme', '--html'],
  ]) {
    outputs.push(await runProgram(mirror, ...args));
  }
  for (const { out, errors } of outputs) expect(`${out}${errors}`).not.toMatch(STEERS);
});
