// Turns all that is wrong with a configuration into one error that says for each where it is and what to do.

/** One thing wrong: where, and in words for people what and what to do. */
export interface Complaint {
  readonly file: string;
  /** From 1; absent where the whole file is meant. */
  readonly line?: number;
  readonly column?: number;
  /** The setting, `feeds.acme.schedule`; empty for the whole file. */
  readonly setting: string;
  readonly message: string;
}

/** The configuration can't be used. The message is the list of complaints, one a line: `jobmirror.yaml:12:5 feeds.acme.site: …`. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly complaints: readonly Complaint[];

  constructor(complaints: readonly Complaint[]) {
    super(complaints.map(complaintLine).join('\n'));
    this.complaints = complaints;
  }
}

/** One complaint as a line of text. */
export function complaintLine({ file, line, column, setting, message }: Complaint): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return setting === '' ? `${place}: ${message}` : `${place} ${setting}: ${message}`;
}
