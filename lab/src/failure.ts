/** An end the user can act on: one line on stderr and an exit code. */
export class Failure extends Error {
  /** 2 for a wrong command line or a missing tool, 1 for everything else. */
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
