// Each action as the command that does it.
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { commandWriter } from '../../src/cli/adapter/command-line.ts';
import { olderOnes } from '../../src/cli/adapter/operation-command.ts';
import { writeAction } from '../../src/cli/adapter/write-action.ts';
import type { Action } from '../../src/plan/action.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';

const feed = feedName('acme');
const site = siteName('board');
const onEntry = { entry: 7, effect: '' };

it.each<[Action, string]>([
  [{ ...onEntry, kind: 'approve', parameters: {} }, 'review approve 7'],
  [{ ...onEntry, kind: 'approve', parameters: { version: '3-9' } }, 'review approve 7 --if-version 3-9'],
  [{ ...onEntry, kind: 'discard', parameters: {} }, 'review discard 7'],
  [{ ...onEntry, kind: 'retry', parameters: {} }, 'review retry 7'],
  [{ ...onEntry, kind: 'reopen', parameters: {} }, 'review reopen 7'],
  [{ ...onEntry, kind: 'edit', parameters: { field: null, value: null } }, 'review edit 7 --set FIELD=VALUE'],
  [
    { ...onEntry, kind: 'settle', parameters: { verdict: 'exists', site_job_id: null } },
    'review settle 7 --exists JOBID',
  ],
  [{ ...onEntry, kind: 'settle', parameters: { verdict: 'missing' } }, 'review settle 7 --missing'],
  [
    { ...onEntry, kind: 'settle', parameters: { verdict: 'missing', version: '3-9' } },
    'review settle 7 --missing --if-version 3-9',
  ],
  [{ kind: 'list_entries' }, 'review list'],
  [{ kind: 'list_entries', entryKind: 'held' }, 'review list --kind held'],
  [{ kind: 'list_entries', feed, discarded: true }, 'review list acme --discarded'],
  [{ kind: 'list_pulls', feed }, 'pulls acme'],
  [{ kind: 'explain_posting', feed, key: postingKey('a b') }, 'why acme a b'],
  [{ kind: 'show_status' }, 'status'],
  [{ kind: 'approve_held', feed }, 'review approve acme'],
  [{ kind: 'approve_held', feed, count: 3 }, 'review approve acme --count 3'],
  [{ kind: 'resume_site', site }, 'resume board'],
  [{ kind: 'resume_site', site, because: 'moved' }, 'resume board --moved'],
  [{ kind: 'resume_site', site, because: 'emptied' }, 'resume board --emptied'],
  [{ kind: 'rename_feed', feed, to: feedName('new') }, 'feeds rename acme new'],
  [{ kind: 'rename_feed', feed, to: null }, 'feeds rename acme NAME'],
  [{ kind: 'retire_feed', feed }, 'feeds retire acme'],
  [{ kind: 'declare_feed_new', feed }, 'feeds new acme'],
  [{ kind: 'resume_feed', feed }, 'feeds resume acme'],
  [{ kind: 'undo_pull', pull: 12 }, 'undo 12'],
  [{ kind: 'import_mappings' }, 'mappings import FILE'],
  [{ kind: 'start_schedules' }, 'start'],
])('%j', (action, command) => {
  expect(writeAction(action, (words) => words.join(' '))).toBe(command);
});

it('writes a key that looks like an option so that the command takes it as the key', () => {
  const why = (key: string, file?: string) =>
    writeAction({ kind: 'explain_posting', feed, key: postingKey(key) }, commandWriter(file));
  expect(why('-5')).toMatch(/jobmirror why -- acme -5$/);
  expect(why('--yes', 'a.yaml')).toMatch(/ why --config a.yaml -- acme --yes$/);
  expect(why('a-b', 'a.yaml')).toMatch(/ why acme a-b --config a.yaml$/);
});

it('lists older items by what the command was called with', () => {
  const activity = new Command('activity').argument('[feed]').option('--by <name>').option('--of <n>').option('--all');
  const program = new Command().addCommand(new Command('review').addCommand(activity));
  program.parse(['review', 'activity', 'acme', '--of', '7', '--all'], { from: 'user' });
  const write = (words: readonly string[]) => words.join(' ');
  expect(olderOnes(activity, 5, write)).toBe('Older ones: review activity acme --of 7 --all --before 5');
});
