// Makes objects for the names of fields: they inherit none, so that no name means anything but itself.

/**
 * What `Object.create(null)` is for, except that the runtime keeps the names as it keeps those of a class: one with the
 * same names as thousands before is filled and read faster, and slower than a table where they are others each time. So it
 * is for names of the configuration, not for those that come from a feed.
 */
const Bare = function Bare() {} as unknown as new () => Record<string, string>;
Bare.prototype = Object.freeze(Object.create(null));

/** An empty one. `__proto__` and `constructor` are names like any other. */
export const newBare = (): Record<string, string> => new Bare();
