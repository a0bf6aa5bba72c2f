// The sandbox's log interface: a constant message and data. The starter provides the logger.

/** Writes one log line. */
export type SandboxLog = (message: string, data?: Readonly<Record<string, unknown>>) => void;
