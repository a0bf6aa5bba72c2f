// Spells names and values of settings and faults as on the command line.

/** `retryAfter` is `retry-after`. */
export const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `true` is `yes`; everything else is as it is. */
export const spell = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value));
