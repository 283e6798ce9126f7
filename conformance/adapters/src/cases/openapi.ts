/** The document and its page over a socket. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { describe, test } from 'node:test'
import { openapi } from 'volant'
import { eventually, type Kit, request } from '../kit.ts'

const info = { title: 'Test', version: '1.0.0' }

/** Where the files a process has open are listed. */
const watched = existsSync('/proc/self/fd') ? {} : { skip: 'there is no /proc/self/fd' }

function bundlesOpen(): number {
  return readdirSync('/proc/self/fd').filter((each) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`).endsWith('reference.js.gz')
    } catch {
      return false
    }
  }).length
}

export function openapiCases(kit: Kit): void {
  describe('openapi', () => {
    test('the document has the routes', async () => {
      const app = kit.app()
      app.register(openapi, { info })
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const { paths } = (await live.ask('/openapi.json')).json() as { paths: object }
        assert.deepEqual(Object.keys(paths), ['/x'])
      })
    })

    test('the bundle is closed when the client has gone, and HEAD opens nothing', watched, async () => {
      const app = kit.app()
      app.register(openapi, { info })
      await kit.serve(app, async (live) => {
        for (let times = 0; times < 5; times++) {
          const head = await live.ask('/docs/reference.js', { method: 'HEAD' })
          assert.equal(head.status, 200)
          assert.equal(head.headers['content-encoding'], undefined)
          const wire = await live.connect()
          wire.send(request('GET', '/docs/reference.js'))
          await wire.until(() => (wire.received.length > 1_000 ? true : undefined), 'a beginning')
          wire.reset()
        }
        await eventually(() => bundlesOpen() === 0, 'all closed')
      })
    })
  })
}
