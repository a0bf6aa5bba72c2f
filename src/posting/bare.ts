// Makes objects for names that come from outside: they inherit none, so that no name means anything but itself.

/**
 * What `Object.create(null)` is for, except that the runtime keeps the names as it keeps those of a class: one with the
 * same names as thousands before is filled and read in two thirds of the time.
 */
const Bare = function Bare() {} as unknown as new <Value>() => Record<string, Value>;
Bare.prototype = Object.freeze(Object.create(null));

/** An empty one. `__proto__` and `constructor` are names like any other. */
export const newBare = <Value>(): Record<string, Value> => new Bare<Value>();
