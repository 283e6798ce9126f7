/** What JSON makes of a value: dates become text, functions and symbols are left out. */
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
            : { [K in keyof T]: Jsonified<T[K]> }

/** In an array there is no leaving out. */
type Element<T> = undefined extends T ? Jsonified<Exclude<T, undefined>> | null : Jsonified<T>
