/** Tests a server with net/http of Go. With HTTP/2 the program checks each reply itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { startGo, withoutGo } from '../src/go.ts'
import { body, onEach, type Wire } from '../src/site.ts'

const ways: [name: string, wire: Wire, proto: 'HTTP/1.1' | 'HTTP/2.0'][] = [
  ['HTTP/1.1 over TLS', 'https', 'HTTP/1.1'],
  ['HTTP/2 over TLS', 'h2', 'HTTP/2.0'],
  ['HTTP/2 without TLS', 'h2c', 'HTTP/2.0'],
]

onEach('net/http of Go', withoutGo, (place) => {
  for (const [name, wire, proto] of ways) {
    test(name, { skip: place.lacks(wire), timeout: 180_000 }, () =>
      place.serve(wire, async (site) => {
        const { code, stdout, stderr } = await startGo(site, proto, '-bytes', String(body.length)).ended
        assert.equal(code, 0, stderr)
        const checks = stdout
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
        assert.deepEqual(
          checks,
          ['json', 'bodies', 'parts', 'parallel', 'statuses', 'trailers', 'abort'].map((check) => ({
            name: check,
            error: null,
          })),
        )
        await eventually(() => site.left.includes('go'), 'ctx.signal is aborted')
      }),
    )
  }
})
