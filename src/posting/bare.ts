// Creates objects keyed by field name that inherit nothing, so no field name has a special meaning.

/**
 * Like `Object.create(null)`, but V8 gives the instances hidden classes: faster for objects that share their names with
 * thousands of others, slower if the names differ each time. Use it for names from the configuration, not from a feed.
 */
const Bare = function Bare() {} as unknown as new () => Record<string, string>;
Bare.prototype = Object.freeze(Object.create(null));

/** Creates an empty object in which `__proto__` and `constructor` are ordinary names. */
export const newBare = (): Record<string, string> => new Bare();
