/** A session as handlers see it. */

/** A value as it was stored: what is changed in it would not be, so that it is frozen. Give `set` a new value. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** The session of a request, `ctx.state.session`. What it holds is JSON. */
export interface Session<Data extends object = Record<string, unknown>> {
  /**
   * The name of the session for logs and for the store: nobody can use it in place of the cookie. Another one begins
   * with `signIn` and `signOut`.
   */
  readonly id: string
  /** True where no session came with the request, or none that is valid; and after `signIn` and `signOut`. */
  readonly isNew: boolean
  /** Gives a value, frozen; undefined where there is none. */
  get<K extends keyof Data & string>(key: K): Frozen<Data[K]> | undefined
  /**
   * Keeps a value. It is written before the reply leaves. Throws `E_NOT_SERIALISABLE` for what is not JSON,
   * `E_SESSION_LATE` once the reply has left.
   */
  set<K extends keyof Data & string>(key: K, value: Exclude<Data[K], undefined>): void
  /** Forgets a value. */
  delete<K extends keyof Data & string>(key: K): void
  /**
   * Begins a new session for somebody who has proved who they are. It has a new id, and holds `data` alone: what was in
   * the session before may be somebody else's. Call it whenever somebody gets rights that they had not.
   */
  signIn(data?: Partial<Data>): void
  /** Ends the session: its values are gone, and so is its cookie. With a store its id is worth nothing from then on. */
  signOut(): void
  /** Reads the session from the store, where the option `lazy` left that to the handler. */
  load(): Promise<void>
}
