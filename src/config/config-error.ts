// The error for an invalid configuration: lists every mistake with its location and the remedy.

/** One mistake: where it is, what is wrong, and what to do, for people. */
export interface Complaint {
  readonly file: string;
  /** 1-based; absent if the complaint is about the whole file. */
  readonly line?: number;
  readonly column?: number;
  /** Such as `feeds.acme.schedule`; empty for the whole file. */
  readonly setting: string;
  readonly message: string;
}

/** The configuration can't be used. The message has one complaint per line: `jobmirror.yaml:12:5 feeds.acme.site: …`. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly complaints: readonly Complaint[];

  constructor(complaints: readonly Complaint[]) {
    super(complaints.map(complaintLine).join('\n'));
    this.complaints = complaints;
  }
}

/** A complaint, also as JSON has it. */
type WrittenComplaint = Omit<Complaint, 'line' | 'column'> & {
  readonly line?: number | null;
  readonly column?: number | null;
};

/** Formats a complaint as one line. */
export function complaintLine({ file, line, column, setting, message }: WrittenComplaint): string {
  const place = line == null ? file : `${file}:${line}:${column ?? 1}`;
  return setting === '' ? `${place}: ${message}` : `${place} ${setting}: ${message}`;
}
