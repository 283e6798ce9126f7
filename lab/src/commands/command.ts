/** A command of the lab. */
export interface Command {
  readonly name: string
  /** One line for the list. */
  readonly about: string
  /** All it takes, with examples. */
  readonly help: string
  /** Resolves with the exit code. Throws a `Failure` with one line. */
  run(args: readonly string[]): Promise<number>
}
