/** Types the parameters of a pattern. */

/** A parameter's name without the suffix that follows it (`/:value.svg`). */
type Name<S extends string> = S extends `${infer N}.${string}` ? Dashed<N> : Dashed<S>
type Dashed<S extends string> = S extends `${infer N}-${string}` ? N : S

type Segments<P extends string> = P extends `${infer A}/${infer B}` ? Segments<A> | Segments<B> : P

type Required<S extends string> = S extends `::${string}`
  ? never
  : S extends `:${string}?`
    ? never
    : S extends `:${infer N}`
      ? Name<N>
      : S extends '*'
        ? '*'
        : S extends `*${infer N}`
          ? N
          : never

type Optional<S extends string> = S extends `::${string}` ? never : S extends `:${infer N}?` ? N : never

/** The names of the parameters that are always there. */
export type RequiredNames<P extends string> = Required<Segments<P>>

/** The parameters of a pattern: `/a/:id` has `id`. */
export type ParamsOf<P extends string> = string extends P
  ? Record<string, string>
  : [Optional<Segments<P>>] extends [never]
    ? { [K in Required<Segments<P>>]: string }
    : { [K in Required<Segments<P>>]: string } & { [K in Optional<Segments<P>>]?: string }
