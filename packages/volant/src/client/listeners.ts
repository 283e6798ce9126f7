/** Keeps the listeners of a socket's events, and calls them. */

export class Listeners<Events extends object> {
  readonly #byName = new Map<keyof Events, Set<(event: never) => void>>()

  /** Adds a listener. The function that it gives takes it away. */
  on<K extends keyof Events>(name: K, listener: (event: Events[K]) => void): () => void {
    let listeners = this.#byName.get(name)
    if (!listeners) this.#byName.set(name, (listeners = new Set()))
    // A function of its own can be there twice, and be taken away once.
    const own = (event: Events[K]): void => listener(event)
    listeners.add(own)
    return () => void listeners.delete(own)
  }

  /** Calls the listeners. Gives false where there is none. */
  emit<K extends keyof Events>(name: K, event: Events[K]): boolean {
    // A listener may add others, which have not asked for this event.
    const listeners = Array.from((this.#byName.get(name) ?? []) as Iterable<(event: Events[K]) => void>)
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        // A listener of the platform would behave like this: the others run, and the error is uncaught.
        queueMicrotask(() => {
          throw error
        })
      }
    }
    return listeners.length > 0
  }
}
