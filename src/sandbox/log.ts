// What the sandbox tells whoever started it: a constant message, and data. It has no logger of its own.

/** Takes one line of the sandbox's log. */
export type SandboxLog = (message: string, data?: Readonly<Record<string, unknown>>) => void;
