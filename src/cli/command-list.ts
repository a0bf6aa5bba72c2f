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

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'demo',
    term: 'demo [options]',
    description: 'see it work: mirror a bundled feed into a sandbox, with nothing to install or configure',
    load: async () => (await import('./commands/demo.ts')).demoCommand(),
  },
  {
    name: 'init',
    term: 'init [options] [source]',
    description: 'recognise a feed from its address or file, and write a configuration for it',
    load: async () => (await import('./commands/init.ts')).initCommand(),
  },
  {
    name: 'check',
    term: 'check [options]',
    description: 'check the configuration, and show how it is understood',
    load: async () => (await import('./commands/check.ts')).checkCommand(),
  },
  {
    name: 'try',
    term: 'try [options] <feed>',
    description: 'show what the postings of a feed become, and likely mistakes; write and send nothing',
    load: async () => (await import('./commands/try.ts')).tryCommand(),
  },
  {
    name: 'plan',
    term: 'plan [options] [feed...]',
    description: 'show what a sync would send, and send nothing',
    load: async () => (await import('./commands/plan.ts')).planCommand(),
  },
  {
    name: 'sync',
    term: 'sync [options] [feed...]',
    description: 'pull feeds once, send what differs, and print a summary of each',
    load: async () => (await import('./commands/sync.ts')).syncCommand(),
  },
  {
    name: 'start',
    term: 'start [options]',
    description: 'pull feeds on their schedules and send their changes, until stopped',
    load: async () => (await import('./commands/start.ts')).startCommand(),
  },
  {
    name: 'work',
    term: 'work [options]',
    description: 'send changes alongside the workers of other machines, without pulling, until stopped',
    load: async () => (await import('./commands/work.ts')).workCommand(),
  },
  {
    name: 'status',
    term: 'status [options]',
    description: 'show the status of each site and feed, and what needs a person',
    load: async () => (await import('./commands/status.ts')).statusCommand(),
  },
  {
    name: 'pulls',
    term: 'pulls [options] [feed]',
    description: 'list the newest pulls',
    load: async () => (await import('./commands/pulls.ts')).pullsCommand(),
  },
  {
    name: 'changes',
    term: 'changes [options]',
    description: 'list what was created, updated and deleted on the sites, when and why',
    load: async () => (await import('./commands/changes.ts')).changesCommand(),
  },
  {
    name: 'activity',
    term: 'activity [options] [feed]',
    description: 'list what people, rules and pulls did, one line per action',
    load: async () => (await import('./commands/activity.ts')).activityCommand(),
  },
  {
    name: 'undo',
    term: 'undo [options] <pull>',
    description: 'show what undoing a pull would do, and undo it once confirmed',
    load: async () => (await import('./commands/undo.ts')).undoCommand(),
  },
  {
    name: 'recover',
    term: 'recover [options] <feed>',
    description:
      'after the database was lost or restored: find the jobs of a feed by their references, and map them once confirmed',
    load: async () => (await import('./commands/recover.ts')).recoverCommand(),
  },
  {
    name: 'review',
    term: 'review',
    description: 'list and resolve what needs a person',
    load: async () => (await import('./commands/review.ts')).reviewCommand(),
  },
  {
    name: 'why',
    term: 'why [options] <feed> <key>',
    description: 'explain the state of a posting on the site',
    load: async () => (await import('./commands/why.ts')).whyCommand(),
  },
  {
    name: 'report',
    term: 'report [options] <feed>',
    description:
      'report what became of each posting, for the producer of the feed: on the terminal, as a page, CSV or JSON',
    load: async () => (await import('./commands/report.ts')).reportCommand(),
  },
  {
    name: 'pause',
    term: 'pause [options] [name]',
    description: 'stop sending for a feed, a site or everything, at once',
    load: async () => (await import('./commands/resume.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    term: 'resume [options] [name]',
    description: 'resume sending for what is paused: a feed, a site or everything',
    load: async () => (await import('./commands/resume.ts')).resumeCommand(),
  },
  {
    name: 'reload',
    term: 'reload [options]',
    description: 'have running processes read the configuration again, and say what changed in each',
    load: async () => (await import('./commands/reload.ts')).reloadCommand(),
  },
  {
    name: 'mappings',
    term: 'mappings',
    description: 'list, find, export and import which posting is which site job, and adopt existing jobs',
    load: async () => (await import('./commands/mappings.ts')).mappingsCommand(),
  },
  {
    name: 'verify',
    term: 'verify [options] [feed...]',
    description: 'compare the jobs of feeds with what their sites show, and have differences repaired',
    load: async () => (await import('./commands/verify.ts')).verifyCommand(),
  },
  {
    name: 'feeds',
    term: 'feeds',
    description:
      'rename, resume or stop mirroring feeds, declare them new, renew their jobs, keep them when keys change, or show and save their files',
    load: async () => (await import('./commands/feeds.ts')).feedsCommand(),
  },
  {
    name: 'alerts',
    term: 'alerts',
    description: 'list open alerts and undelivered messages, send these again, and test the destinations',
    load: async () => (await import('./commands/alerts.ts')).alertsCommand(),
  },
  {
    name: 'backup',
    term: 'backup [options] <file>',
    description: 'write the whole database into a file, while jobmirror runs',
    load: async () => (await import('./commands/backup.ts')).backupCommand(),
  },
  {
    name: 'restore',
    term: 'restore [options] <file>',
    description: 'put a backup into an empty database, or replace what it has',
    load: async () => (await import('./commands/backup.ts')).restoreCommand(),
  },
  {
    name: 'users',
    term: 'users',
    description: 'hash the passwords of those who may use the pages of `start`',
    load: async () => (await import('./commands/users.ts')).usersCommand(),
  },
  {
    name: 'sandbox',
    term: 'sandbox [options]',
    description: 'run a practice job site, with the whole XML interface and pages, until stopped',
    load: async () => (await import('./commands/sandbox.ts')).sandboxCommand(),
  },
  {
    name: 'completion',
    term: 'completion <shell>',
    description: 'print a script that completes commands, options and names in bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completionCommand(),
  },
];
