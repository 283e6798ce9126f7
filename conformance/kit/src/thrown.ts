/** Reads the error that a function throws. */

/** Gives the message of the error that `act` throws, such as why an adapter cannot run here; null if it throws none. */
export function thrownMessage(act: () => unknown): string | null {
  try {
    act()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
