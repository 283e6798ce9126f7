/**
 * Creates objects for keys that come from a request: no inherited properties, so `__proto__` or `constructor` are
 * keys like any other. A constructor keeps V8's fast properties, which `Object.create(null)` gives up.
 */
export const Bag = function () {} as unknown as { new (): Record<string, unknown> }
Bag.prototype = Object.create(null)
