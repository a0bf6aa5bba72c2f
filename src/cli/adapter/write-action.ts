// Writes actions as commands: the only place that knows which command does what.
import type { Action, EntryAction, OtherAction } from '../../plan/action.ts';
import { type Advice, type Message, tell, tellAll, type WriteAction } from '../../plan/message.ts';
import { argumentWords, type WriteCommand } from './command-line.ts';

/** The action as a command that can be run as it is, but for what the person has to fill in (in capitals). */
export const writeAction = (action: Action, write: WriteCommand): string => write(wordsOf(action));

export const actionWriter =
  (write: WriteCommand): WriteAction =>
  (action) =>
    writeAction(action, write);

/** A message with its commands. */
export const say = (message: Message, write: WriteCommand): string => tell(message, actionWriter(write));

export const sayAll = (messages: readonly Message[], write: WriteCommand): string =>
  tellAll(messages, actionWriter(write));

/** The action with its effect, on a line below the entry that it applies to. */
export const actionLine = (action: EntryAction, write: WriteCommand): string =>
  `  ${writeAction(action, write)}   (${action.effect})`;

/** An advice on a line below what it is about. */
export const adviceLine = ({ words = 'run', action }: Advice, write: WriteCommand): string =>
  `  ${words}${action === undefined ? '' : `:  ${writeAction(action, write)}`}`;

/** The words after the program's name. */
function wordsOf(action: Action): readonly string[] {
  if (!('entry' in action)) return otherWords(action);
  if (action.kind === 'compare_keys') return otherWords({ kind: 'rekey_feed', feed: action.parameters.feed });
  return ['review', ...entryWords(action)];
}

function entryWords(action: Exclude<EntryAction, { kind: 'compare_keys' }>): readonly string[] {
  const id = String(action.entry);
  switch (action.kind) {
    case 'edit':
      return ['edit', id, '--set', 'FIELD=VALUE'];
    case 'settle':
      return ['settle', id, ...settleWords(action.parameters)];
    default:
      return [action.kind, id, ...boundTo(action.parameters)];
  }
}

function settleWords({ verdict, version }: Extract<EntryAction, { kind: 'settle' }>['parameters']): readonly string[] {
  return [...(verdict === 'exists' ? ['--exists', 'JOBID'] : ['--missing']), ...boundTo({ version })];
}

const boundTo = ({ version }: { readonly version?: string | undefined }): readonly string[] =>
  version === undefined ? [] : ['--if-version', version];

function otherWords(action: OtherAction): readonly string[] {
  switch (action.kind) {
    case 'list_entries': {
      const { feed = [], entryKind, discarded } = action;
      const kind = entryKind === undefined ? [] : ['--kind', entryKind];
      return ['review', 'list', feed, kind, discarded === true ? '--discarded' : []].flat();
    }
    case 'list_pulls':
      return ['pulls', action.feed];
    case 'explain_posting':
      return ['why', ...argumentWords(action.feed, action.key)];
    case 'show_status':
      return ['status'];
    case 'check_configuration':
      return ['check'];
    case 'approve_held': {
      const count = action.count === undefined ? [] : ['--count', String(action.count)];
      return ['review', 'approve', action.feed, ...count];
    }
    case 'resume_site':
      return ['resume', action.site, ...(action.because === undefined ? [] : [`--${action.because}`])];
    case 'end_pause': {
      const name = action.feed ?? action.site;
      return [
        'resume',
        ...(name === undefined ? ['--all'] : [name, '--of', action.feed === undefined ? 'site' : 'feed']),
      ];
    }
    case 'rename_feed':
      return ['feeds', 'rename', action.feed, action.to ?? 'NAME'];
    case 'retire_feed':
      return ['feeds', 'retire', action.feed];
    case 'resume_feed':
      return ['feeds', 'resume', action.feed];
    case 'undo_pull':
      return ['undo', String(action.pull)];
    case 'declare_feed_new':
      return ['feeds', 'new', action.feed];
    case 'rekey_feed':
      return ['feeds', 'rekey', action.feed];
    case 'deny_rekey':
      return ['feeds', 'rekey', action.feed, '--not-rekey'];
    case 'recover_feed':
      return ['recover', action.feed];
    case 'adopt_jobs':
      return [
        'mappings',
        'adopt',
        action.feed,
        ...(action.key === undefined ? [] : ['--job', 'JOB', `--posting=${action.key}`]),
      ];
    case 'renew_posting':
      return ['feeds', 'renew', ...argumentWords(action.feed, action.key)];
    case 'import_mappings':
      return ['mappings', 'import', 'FILE'];
    case 'start_schedules':
      return ['start'];
    default:
      return action satisfies never;
  }
}
