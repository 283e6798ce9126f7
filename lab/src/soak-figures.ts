/** What the two processes of `lab soak` agree on. */

/** Length of the replies to `/large`: past what the engine copies. */
export const largeBytes = 20_000
/** Parts of the replies to `/stream`, each of them the nonce. */
export const streamParts = 4

/** Taken after forced collections, when no client is connected. */
export interface SoakFigures {
  readonly residentBytes: number
  readonly openFiles: number
  readonly connections: number
  /** Requests without a complete reply. */
  readonly inFlight: number
  readonly panics: number
}
