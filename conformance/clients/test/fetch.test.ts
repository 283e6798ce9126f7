/** Tests a server with `fetch` of Node.js. It speaks HTTP/1.1 unless a dispatcher of undici is set. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'
import { start } from '../src/program.ts'
import { body, onEach } from '../src/site.ts'

const program = fileURLToPath(new URL('../src/fetch-program.js', import.meta.url))

onEach('fetch of Node.js', false, (place) => {
  test('over TLS', { timeout: 60_000 }, () =>
    place.serve('https', async (site) => {
      const args = [program, site.url, String(body.length)]
      const env = { NODE_EXTRA_CA_CERTS: place.authority.file }
      const { code, stdout, stderr } = await start(process.execPath, args, env).ended
      assert.equal(code, 0, stderr)
      const { json, ...rest } = JSON.parse(stdout.toString())
      assert.equal(json.protocol, 'https')
      assert.deepEqual(rest, {
        same: true,
        sameStreamed: true,
        parts: ['first\n', 'second\n'],
        ok: 75,
        missing: 25,
        given: 'AbortError',
      })
      await eventually(() => site.left.includes('fetch'), 'ctx.signal is aborted')
    }),
  )
})
