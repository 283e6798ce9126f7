/** The time in which every library refuses a body, all of it wrong, does not grow as the square of its length. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Kit } from '../kit.ts'
import { good, libraries } from './libraries.ts'

const kit = new Kit()

const shapes: Record<string, (size: number) => object> = {
  'lines of another type': (size) => ({ ...good, lines: Array.from({ length: size }, () => 1) }),
  'lines with a wrong member': (size) => ({
    ...good,
    lines: Array.from({ length: size / 2 }, () => ({ sku: 1 })),
  }),
  'a text that is no choice': (size) => ({ ...good, size: 'x'.repeat(size * 200) }),
  'keys that are not known': (size) =>
    Object.fromEntries(Array.from({ length: size * 8 }, (_, at) => [`key${at}`, 1])),
}

/** Halfway between 16, of a line, and 256, of a square: a long body is in fewer caches of the processor. */
const most = 16 ** 1.5

for (const [library, api] of Object.entries(libraries)) {
  describe(`schemas of ${library}`, () => {
    for (const [name, shape] of Object.entries(shapes)) {
      test(`${name}: time(16n) / time(n) ≤ ${most}`, async (t) => {
        const app = kit.app()
        app.post('/x', { body: api.body }, () => 'passed')
        await kit.serve(app, async (live) => {
          /** Processor time in µs: a machine that does other work adds less to it than to what a clock shows. */
          const timeOf = async (text: string) => {
            const start = process.cpuUsage()
            assert.equal((await live.post('/x', 'application/json', text)).status, 400)
            const { user, system } = process.cpuUsage(start)
            return Math.max(user + system, 1)
          }
          const [short, long] = [JSON.stringify(shape(256)), JSON.stringify(shape(4_096))]
          // The least of each counts: what else the process does can only add.
          let [leastShort, leastLong, ratio] = [Infinity, Infinity, Infinity]
          for (let attempt = 0; attempt < 50 && (attempt < 5 || ratio > most); attempt++) {
            leastShort = Math.min(leastShort, await timeOf(short))
            leastLong = Math.min(leastLong, await timeOf(long))
            ratio = leastLong / leastShort
          }
          t.diagnostic(ratio.toFixed(1))
          assert.ok(ratio <= most, ratio.toFixed(1))
        })
      })
    }
  })
}
