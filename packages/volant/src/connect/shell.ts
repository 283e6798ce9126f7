/**
 * Gives a base class with the prototype of `parent` and an empty constructor. What extends it is an `instanceof` the
 * parent, and has only the fields that it makes itself: the constructors of IncomingMessage and ServerResponse make
 * forty, of which most requests use none.
 */
export function shell<Instance>(parent: { readonly prototype: unknown }): new () => Instance {
  function Shell(): void {}
  Shell.prototype = parent.prototype
  return Shell as unknown as new () => Instance
}

/**
 * Defines properties that are computed when they are read and become ordinary ones when they are assigned to, as
 * middlewares do with `req.query` and `req.id`.
 */
export function lazily<Instance>(
  prototype: Instance,
  properties: Readonly<Record<string, (instance: Instance) => unknown>>,
): void {
  for (const [name, read] of Object.entries(properties)) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: Instance) {
        return read(this)
      },
      set(this: Instance, value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true })
      },
    })
  }
}

/** Sets properties of a prototype, also where the one it inherits from has a getter by that name. */
export function define(prototype: object, properties: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(prototype, name, { value, configurable: true, enumerable: true, writable: true })
  }
}
