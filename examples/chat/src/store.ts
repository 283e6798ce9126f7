/** What outlives a connection: members with the hashes of their passwords, and the last messages of each room. */
import type { Message } from './messages.ts'

/** So many messages of a room are kept. */
export const kept = 50

export interface Store {
  /** Gives the hash of a member's password, or null. */
  hashOf(name: string): Promise<string | null>
  /** Adds a member. Gives false if there is one of that name. */
  add(name: string, hash: string): Promise<boolean>
  /** Keeps a message, and gives it its number; null if there is one with its key. */
  keep(room: string, message: Omit<Message, 'id'>): Promise<Message | null>
  /** Gives the last messages of a room, the oldest first. */
  last(room: string): Promise<Message[]>
}

/** For one process: what it keeps ends with it. */
export function memoryStore(): Store {
  const hashes = new Map<string, string>()
  const rooms = new Map<string, Message[]>()
  return {
    hashOf: async (name) => hashes.get(name) ?? null,
    async add(name, hash) {
      if (hashes.has(name)) return false
      hashes.set(name, hash)
      return true
    },
    async keep(room, message) {
      const messages = rooms.get(room) ?? []
      if (messages.some(({ key }) => key === message.key)) return null
      const numbered = { id: (messages.at(-1)?.id ?? 0) + 1, ...message }
      rooms.set(room, [...messages, numbered].slice(-kept))
      return numbered
    },
    last: async (room) => rooms.get(room) ?? [],
  }
}
