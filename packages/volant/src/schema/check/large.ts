/** Finds values that are too large to look for all their faults: a client would choose how long that takes. */

/** A value with at most this many members and items, and characters in each text, has all its faults reported. */
const mostMembers = 250
const mostCharacters = 4_096

/** Stops counting at the limit. */
export function isLarge(root: unknown): boolean {
  const stack = [root]
  let members = 0
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value === 'string' && value.length > mostCharacters) return true
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      members += value.length
      if (members > mostMembers) return true
      for (const item of value) stack.push(item)
    } else {
      for (const name of Object.keys(value)) {
        if (++members > mostMembers || name.length > mostCharacters) return true
        stack.push((value as Record<string, unknown>)[name])
      }
    }
  }
  return false
}
