/**
 * How many WebSockets of an app are subscribed to each topic. JavaScript counts, so that a number is right within the hook
 * that subscribes, where the engine has not seen the subscription. A message costs nothing by it.
 */
import type { SharedTopics } from './shared-topics.ts'

export class TopicCounts {
  readonly #shared: SharedTopics | null
  readonly #counts = new Map<string, number>()

  /** `shared` joins the topics that have WebSockets here. */
  constructor(shared: SharedTopics | null) {
    this.#shared = shared
  }

  /** A WebSocket has subscribed to the topic. */
  join(topic: string): void {
    const before = this.of(topic)
    this.#counts.set(topic, before + 1)
    if (before === 0) this.#shared?.join(topic)
  }

  /** A WebSocket has left the topic. */
  leave(topic: string): void {
    const before = this.of(topic)
    if (before > 1) {
      this.#counts.set(topic, before - 1)
      return
    }
    this.#counts.delete(topic)
    this.#shared?.leave(topic)
  }

  of(topic: string): number {
    return this.#counts.get(topic) ?? 0
  }
}
