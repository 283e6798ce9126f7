/** The type of a value after JSON: dates become text, functions and symbols are left out, maps and sets are empty. */
export type Jsonified<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(...key: never): infer J }
      ? Jsonified<J>
      : T extends bigint
        ? never
        : T extends symbol | ((...args: never) => unknown)
          ? undefined
          : T extends readonly unknown[]
            ? { [K in keyof T]: Element<T[K]> }
            : T extends ReadonlyMap<any, any> | ReadonlySet<any> | WeakMap<any, any> | WeakSet<any> | RegExp
              ? Record<string, never>
              : { [K in keyof T]: Jsonified<T[K]> }

/** An array keeps its length: JSON writes null for a function, a symbol and undefined. */
type Element<T> = undefined extends T ? Jsonified<Exclude<T, undefined>> | null : Jsonified<T>
