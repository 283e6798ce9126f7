/** The names that topics have at the server of a bus. */
import { createHash } from 'node:crypto'

/** Topics with more UTF-16 units are named by their hash. */
const longest = 200

/**
 * Gives the channel of a topic: `NAMESPACE:t:TOPIC`, or `NAMESPACE:h:HASH` for a topic that is long or empty, or
 * has no form in UTF-8.
 */
export function channelOf(nameSpace: string, topic: string): string {
  if (topic !== '' && topic.length <= longest && !/\p{Surrogate}/u.test(topic))
    return `${nameSpace}:t:${topic}`
  // JSON writes half of a surrogate pair as an escape, so that two such topics have two texts.
  return `${nameSpace}:h:${createHash('sha256').update(JSON.stringify(topic)).digest('base64url')}`
}
