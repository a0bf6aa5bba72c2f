// All commands with the line that help shows for each. A command's code is loaded when it is called: help and short commands start fast.
import type { Command } from 'commander';

export interface CommandEntry {
  readonly name: string;
  /** The command with its arguments, as help lists it. */
  readonly term: string;
  readonly description: string;
  /** Loads the command, without its description. */
  load(): Promise<Command>;
}

const LISTED: readonly Omit<CommandEntry, 'name'>[] = [
  {
    term: 'demo [options]',
    description: 'see it work: mirror a bundled feed into a sandbox, with nothing to install or configure',
    load: async () => (await import('./commands/demo.ts')).demoCommand(),
  },
  {
    term: 'init [options] [source]',
    description: 'recognise a feed from its address or file, and write a configuration for it',
    load: async () => (await import('./commands/init.ts')).initCommand(),
  },
  {
    term: 'check [options]',
    description: 'check the configuration, and show how it is understood',
    load: async () => (await import('./commands/check.ts')).checkCommand(),
  },
  {
    term: 'try [options] <feed>',
    description: 'show what the postings of a feed become, and likely mistakes; write and send nothing',
    load: async () => (await import('./commands/try.ts')).tryCommand(),
  },
  {
    term: 'plan [options] [feed...]',
    description: 'show what a sync would send, and send nothing',
    load: async () => (await import('./commands/plan.ts')).planCommand(),
  },
  {
    term: 'sync [options] [feed...]',
    description: 'pull feeds once, send what differs, and print a summary of each',
    load: async () => (await import('./commands/sync.ts')).syncCommand(),
  },
  {
    term: 'start [options]',
    description: 'pull feeds on their schedules and send their changes, until stopped',
    load: async () => (await import('./commands/start.ts')).startCommand(),
  },
  {
    term: 'work [options]',
    description: 'send changes alongside the workers of other machines, without pulling, until stopped',
    load: async () => (await import('./commands/work.ts')).workCommand(),
  },
  {
    term: 'status [options]',
    description: 'show the status of each site and feed, and what needs a person',
    load: async () => (await import('./commands/status.ts')).statusCommand(),
  },
  {
    term: 'pulls [options] [feed]',
    description: 'list the newest pulls',
    load: async () => (await import('./commands/pulls.ts')).pullsCommand(),
  },
  {
    term: 'changes [options]',
    description: 'list what was created, updated and deleted on the sites, when and why',
    load: async () => (await import('./commands/changes.ts')).changesCommand(),
  },
  {
    term: 'activity [options] [feed]',
    description: 'list what people, rules and pulls did, one line per action',
    load: async () => (await import('./commands/activity.ts')).activityCommand(),
  },
  {
    term: 'undo [options] <pull>',
    description: 'show what undoing a pull would do, and undo it once confirmed',
    load: async () => (await import('./commands/undo.ts')).undoCommand(),
  },
  {
    term: 'recover [options] <feed>',
    description:
      'after the database was lost or restored: find the jobs of a feed by their references, and map them once confirmed',
    load: async () => (await import('./commands/recover.ts')).recoverCommand(),
  },
  {
    term: 'review',
    description: 'list and resolve what needs a person',
    load: async () => (await import('./commands/review.ts')).reviewCommand(),
  },
  {
    term: 'why [options] <feed> <key>',
    description: 'explain the state of a posting on the site',
    load: async () => (await import('./commands/why.ts')).whyCommand(),
  },
  {
    term: 'report [options] <feed>',
    description:
      'report what became of each posting, for the producer of the feed: on the terminal, as a page, CSV or JSON',
    load: async () => (await import('./commands/report.ts')).reportCommand(),
  },
  {
    term: 'pause [options] [name]',
    description: 'stop sending for a feed, a site or everything, at once',
    load: async () => (await import('./commands/resume.ts')).pauseCommand(),
  },
  {
    term: 'resume [options] [name]',
    description: 'resume sending for what is paused: a feed, a site or everything',
    load: async () => (await import('./commands/resume.ts')).resumeCommand(),
  },
  {
    term: 'reload [options]',
    description: 'have running processes read the configuration again, and say what changed in each',
    load: async () => (await import('./commands/reload.ts')).reloadCommand(),
  },
  {
    term: 'mappings',
    description: 'list, find, export and import which posting is which site job, and adopt existing jobs',
    load: async () => (await import('./commands/mappings.ts')).mappingsCommand(),
  },
  {
    term: 'verify [options] [feed...]',
    description: 'compare the jobs of feeds with what their sites show, and have differences repaired',
    load: async () => (await import('./commands/verify.ts')).verifyCommand(),
  },
  {
    term: 'feeds',
    description:
      'rename, resume or stop mirroring feeds, declare them new, renew their jobs, keep them when keys change, or show and save their files',
    load: async () => (await import('./commands/feeds.ts')).feedsCommand(),
  },
  {
    term: 'alerts',
    description: 'list open alerts and undelivered messages, send these again, and test the destinations',
    load: async () => (await import('./commands/alerts.ts')).alertsCommand(),
  },
  {
    term: 'backup [options] <file>',
    description: 'write the whole database into a file, while jobmirror runs',
    load: async () => (await import('./commands/backup.ts')).backupCommand(),
  },
  {
    term: 'restore [options] <file>',
    description: 'put a backup into an empty database, or replace what it has',
    load: async () => (await import('./commands/backup.ts')).restoreCommand(),
  },
  {
    term: 'users',
    description: 'hash the passwords of those who may use the pages of `start`',
    load: async () => (await import('./commands/users.ts')).usersCommand(),
  },
  {
    term: 'sandbox [options]',
    description: 'run a practice job site, with the whole XML interface and pages, until stopped',
    load: async () => (await import('./commands/sandbox.ts')).sandboxCommand(),
  },
  {
    term: 'completion <shell>',
    description: 'print a script that completes commands, options and names in bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completionCommand(),
  },
];

export const COMMANDS: readonly CommandEntry[] = LISTED.map((entry) => ({
  name: entry.term.replace(/ .*/, ''),
  ...entry,
}));
