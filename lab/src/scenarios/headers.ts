import type { Scenario } from '../scenario.ts'
import { hello, helloProofs } from './hello.ts'
import { get, load } from './load.ts'

export const headerFields: Scenario = {
  name: 'headers',
  title: 'Header fields of the request',
  about: 'GET /json with 2, 10, 20 or 40 header fields, as browsers and proxies add them.',
  document: null,
  program: 'hello',
  headline: 'cpu',
  variants: [2, 10, 20, 40].map((count) => ({
    name: String(count),
    lane: 'plain' as const,
    long: count === 10 || count === 20,
    measure: {
      kind: 'load' as const,
      load: load(
        get('/json', hello, {
          // Host is one of them.
          headers: Object.fromEntries(
            Array.from({ length: count - 1 }, (_, index) => [
              `x-field-${index}`,
              `some value of it ${index}`,
            ]),
          ),
        }),
      ),
    },
  })),
  proofs: helloProofs,
}
