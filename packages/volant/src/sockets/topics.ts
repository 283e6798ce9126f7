import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'

/** A topic has at most so many characters. */
const longest = 1_024
const loneSurrogate = /\p{Surrogate}/u

/** Throws `E_SOCKET_TOPIC` for anything but a text of 1 to 1,024 characters without lone surrogates. */
export function checkTopic(topic: unknown): asserts topic is string {
  if (typeof topic === 'string' && topic !== '' && topic.length <= longest && !loneSurrogate.test(topic))
    return
  throw new VolantError(
    'E_SOCKET_TOPIC',
    `a topic is a text of 1 to ${longest} characters, not ${briefValue(topic)}`,
  )
}
