// `jobmirror review` with wrong arguments: one line says what is wrong, and nothing is done.
import { expect, it } from 'vitest';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

const mirror = openedForAll(() => openMirror());

it.each([
  { args: ['retry', '4711'], error: 'there is no open review entry 4711. Nothing was done.' },
  { args: ['approve', 'globex'], error: 'there is no feed globex; feeds: acme. Nothing was done.' },
  { args: ['show', '4711'], error: 'there is no open review entry 4711' },
  { args: ['show', 'p1'], error: 'It must be the number of an entry' },
  { args: ['list', 'globex'], error: 'there is no feed globex; feeds: acme' },
  { args: ['list', '--kind', 'odd'], error: "argument 'odd' is invalid" },
  { args: ['settle', '1'], error: 'say one of --exists JOBID, --missing, --check or --found' },
  {
    args: ['settle', '1', '--exists', '2', '--missing'],
    error: 'say one of --exists JOBID, --missing, --check or --found',
  },
  { args: ['settle', '1', '--exists', 'http://example.com/'], error: `"http://example.com/" can't be the ID of a job` },
  { args: ['settle', 'acme'], error: 'say one of --exists JOBID' },
  { args: ['settle', '4711', '--found'], error: 'with --found, name a feed' },
  { args: ['settle', 'globex', '--found'], error: 'there is no feed globex; feeds: acme' },
  { args: ['settle', 'acme', '--found', '--missing'], error: 'say one of --exists JOBID' },
  {
    args: ['settle', '4711', '--exists', 'http://example.com/jobs/12.xml'],
    error: 'there is no open review entry 4711',
  },
  { args: ['edit', '1', '--set', 'title'], error: 'It must be FIELD=VALUE.' },
  { args: ['edit', '1', '--set', 'a=1', '--set', 'a=2'], error: 'a is set twice.' },
  { args: ['approve', 'acme', '--count', 'all'], error: 'It must be a whole number.' },
  {
    args: ['note', 'g0123456789', 'for Ana', '--remove', '3'],
    error: '--remove takes no group and no text',
  },
])('review $args says what is wrong', async ({ args, error }) => {
  const result = await runProgram(mirror, 'review', ...args);
  expect(result).toMatchObject({ status: 1, out: '' });
  expect(result.errors).toContain(error);
  expect(result.errors).not.toContain('    at ');
});
