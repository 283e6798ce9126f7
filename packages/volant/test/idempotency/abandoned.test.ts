import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { idempotency, memoryKeys } from 'volant/idempotency'
import { type App, HTTPError } from '../../src/index.ts'
import { deferred, eventually, type Reply } from '../kit.ts'
import { codeOf, kit } from './kit.ts'

describe('a client that leaves, or whose time is over,', () => {
  /** Listens, since a client leaves by a socket. */
  const listening = async (app: App, work: (url: string) => Promise<void>): Promise<void> => {
    const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
    try {
      await work(url)
    } finally {
      await app.close({ drainIdle: 0 })
    }
  }

  for (const [name, hooks] of [
    ['', false],
    [' that a slow hook holds up', true],
  ] as const) {
    test(`gets the reply${name} when it asks again`, async () => {
      const entered = deferred<void>()
      const gate = deferred<void>()
      const app = kit.app()
      let count = 0
      app.use(idempotency({ store: memoryKeys() }))
      app.group('/', (group) => {
        group.onSend(async (_, reply) => {
          if (hooks && reply.status === 200) {
            entered.resolve()
            await gate.promise
          }
          reply.body = `<${String(reply.body)}>`
        })
        group.post('/', async () => {
          count++
          if (!hooks) {
            entered.resolve()
            await gate.promise
          }
          return 'done'
        })
      })
      await listening(app, async (url) => {
        const headers = { 'idempotency-key': 'k' }
        const first = httpRequest(url, { method: 'POST', headers })
        first.on('error', () => {})
        first.end()
        await entered.promise
        first.socket?.resetAndDestroy()
        await eventually(() => app.stats().connections === 0, 'the client has left')
        const busy = await fetch(url, { method: 'POST', headers })
        assert.equal(busy.status, 409)
        gate.resolve()
        let again = busy
        await eventually(async () => {
          again = await fetch(url, { method: 'POST', headers })
          return again.status !== 409
        }, 'the reply is there')
        assert.deepEqual([again.status, await again.text(), count], [200, '<done>', 1])
        assert.equal(again.headers.get('idempotent-replayed'), 'true')
      })
    })
  }

  for (const [name, fails, status, runs] of [
    ['is not run for again where the handler ended after its time', false, 409, 1],
    ['is run for again where the handler failed after its time', true, 410, 2],
  ] as const) {
    test(name, async (t) => {
      const clock = testClock(t)
      const gate = deferred<void>()
      const app = kit.app()
      let count = 0
      app.use(idempotency({ store: memoryKeys() }))
      app.post('/', { handlerTimeout: 20 }, async () => {
        if (++count > 1) throw new HTTPError(410, 'it runs again')
        await gate.promise
        if (fails) throw new Error('too late')
        return 'late'
      })
      await kit.serve(app, async (live) => {
        const ask = (): Promise<Reply> =>
          live.ask('/', { method: 'POST', headers: { 'idempotency-key': 'k' } })
        const first = ask()
        await eventually(() => count === 1, 'the handler')
        await clock.advance(20)
        assert.deepEqual(codeOf(await first), [503, 'E_HANDLER_TIMEOUT'])
        assert.deepEqual(codeOf(await ask()), [409, 'E_IDEMPOTENCY_BUSY'])
        gate.resolve()
        let last = codeOf(await ask())
        await eventually(async () => (last = codeOf(await ask()))[1] !== 'E_IDEMPOTENCY_BUSY', 'it has ended')
        assert.deepEqual([last[0], count], [status, runs])
      })
    })
  }
})
