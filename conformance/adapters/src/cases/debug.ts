/** The routes of `volant/debug` over a socket: who is answered, and profiles of a process that works. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type TestClock, testClock } from '@volant/test-kit'
import { before, HTTPError } from 'volant'
import { debug } from 'volant/debug'
import { eventually, type Kit, request, turns } from '../kit.ts'
import type { WireReply } from '../wire.ts'

export function debugCases(kit: Kit): void {
  describe('debug routes', () => {
    test('routes, runtime, resources and heap, without a secret', async () => {
      const app = kit.app()
      process.env['DEBUG_CASE_SECRET'] = 's3cret-of-env'
      app.register(debug)
      const named = before(function signedIn() {})
      app.get('/users/:id', named, () => 'x')
      await kit.serve(app, async (live) => {
        const headers = { authorization: 'Bearer s3cret-of-header' }
        const texts: string[] = []
        for (const path of ['routes', 'runtime', 'resources', 'heap']) {
          const reply = await live.ask(`/debug/${path}`, { headers })
          assert.equal(reply.status, 200, path)
          assert.equal(reply.headers['cache-control'], 'no-store')
          texts.push(reply.text)
        }
        assert.doesNotMatch(texts.join(''), /s3cret/)
        const [routes, runtime, resources, heap] = texts.map((text) => JSON.parse(text) as unknown) as [
          { method: string; path: string; middleware: string[] }[],
          {
            versions: { node: string }
            server: { inFlight: number; connections: number }
            eventLoop: object
          },
          Record<string, number>,
          { used_heap_size: number },
        ]
        const row = routes.find(({ path }) => path === '/users/:id')
        assert.deepEqual([row?.method, row?.middleware], ['GET', ['signedIn']])
        assert.equal(runtime.versions.node, process.versions.node)
        assert.ok(runtime.server.inFlight >= 1 && runtime.server.connections >= 1)
        assert.ok(Object.keys(resources).length > 0 && heap.used_heap_size > 0)
      })
      delete process.env['DEBUG_CASE_SECRET']
    })

    test('without a guard others are refused: who comes by a proxy, trusted or not, or by another name', async () => {
      for (const trustProxy of [false, 'loopback'] as const) {
        const app = kit.app({ trustProxy })
        app.register(debug)
        await kit.serve(app, async (live) => {
          const refused: Record<string, string>[] = [
            { 'x-forwarded-for': '203.0.113.7' },
            { 'x-forwarded-for': '127.0.0.1' },
            { forwarded: 'for=127.0.0.1' },
            { 'x-real-ip': '127.0.0.1' },
            { host: 'shop.example' },
            { host: 'evil.example', via: '1.1 proxy' },
          ]
          for (const headers of refused) {
            const reply = await live.ask('/debug/runtime', { headers })
            assert.equal(reply.status, 403, JSON.stringify(headers))
            assert.equal((reply.json() as { code: string }).code, 'E_IP_DENIED')
            assert.equal((await live.ask('/debug/cpu-profile', { method: 'POST', headers })).status, 403)
          }
          assert.equal((await live.ask('/debug/runtime')).status, 200)
        })
      }
    })

    test('a guard decides alone', async () => {
      const app = kit.app({ trustProxy: 'loopback' })
      const guard = before((ctx) => {
        if (ctx.headers['x-key'] !== 'right') throw new HTTPError(401, 'no')
      })
      app.register(debug, { guard: [guard], prefix: '/ops' })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/ops/routes')).status, 401)
        assert.equal((await live.ask('/ops/cpu-profile', { method: 'POST' })).status, 401)
        const headers = { 'x-key': 'right', 'x-forwarded-for': '203.0.113.7', host: 'shop.example' }
        assert.equal((await live.ask('/ops/routes', { headers })).status, 200)
        assert.equal((await live.ask('/debug/routes', { headers })).status, 404)
      })
    })

    test('a profile of a loaded process, one at a time', async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      app.register(debug)
      app.get('/work', () => ({ sum: busyWork() }))
      await kit.serve(app, async (live) => {
        const take = () => live.ask('/debug/cpu-profile?seconds=1', { method: 'POST' })
        const profile = take()
        await eventually(() => app.stats().inFlight === 1, 'the profile')
        await turns()
        const second = await take()
        assert.equal(second.status, 409)
        assert.equal((second.json() as { code: string }).code, 'E_PROFILE_RUNNING')
        for (let round = 0; round < 50; round++) assert.equal((await live.ask('/work')).status, 200)
        const reply = await ended(clock, profile)
        assert.equal(reply.status, 200)
        assert.match(
          String(reply.headers['content-disposition']),
          /^attachment; filename="\d+-\d+\.cpuprofile"$/,
        )
        const { nodes, samples } = reply.json() as {
          nodes: { callFrame: { functionName: string } }[]
          samples: number[]
        }
        assert.ok(samples.length > 10)
        assert.ok(nodes.some(({ callFrame }) => callFrame.functionName === 'busyWork'))
        assert.equal((await ended(clock, take())).status, 200)
      })
    })

    test('a client that leaves ends its profile, and the close of the app ends one early', async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      app.register(debug, { maxProfileSeconds: 300 })
      await kit.serve(app, async (live) => {
        const ask = (seconds: number) => live.ask(`/debug/cpu-profile?seconds=${seconds}`, { method: 'POST' })
        const wire = await live.connect()
        wire.send(request('POST', '/debug/cpu-profile?seconds=300'))
        await eventually(() => app.stats().inFlight === 1, 'the first profile')
        await turns()
        assert.equal((await ask(1)).status, 409)
        wire.reset()
        // No time passes, so the profile does not end by itself.
        await eventually(() => app.stats().inFlight === 0, 'the end of the first profile')
        await turns()
        assert.equal((await ended(clock, ask(1))).status, 200)
        const long = await live.connect()
        long.send(request('POST', '/debug/cpu-profile?seconds=300'))
        await eventually(() => app.stats().inFlight === 1, 'the long profile')
        await turns()
        assert.equal((await ask(1)).status, 409)
        const closed = app.close()
        assert.equal((await long.reply('POST')).status, 200)
        // The server waits for the client to end its side, too.
        long.close()
        await closed
      })
    })

    test('seconds out of range are refused', async () => {
      const app = kit.app()
      app.register(debug, { maxProfileSeconds: 2 })
      await kit.serve(app, async (live) => {
        for (const seconds of ['0', '3', '-1', '1.5', '1e0', 'x', '', '999999999999']) {
          const reply = await live.ask(`/debug/cpu-profile?seconds=${seconds}`, { method: 'POST' })
          assert.equal(reply.status, 400, seconds)
          assert.match(reply.text, /seconds takes an integer from 1 to 2/)
        }
        assert.equal((await live.ask('/debug/heap-snapshot', { method: 'POST' })).status, 404)
      })
    })
  })
}

/** Moves time on until the profile of one second that was asked for has ended. */
async function ended(clock: TestClock, asked: Promise<WireReply>): Promise<WireReply> {
  let isEnded = false
  void asked.finally(() => (isEnded = true))
  await eventually(async () => {
    if (!isEnded) await clock.advance(1_000)
    return isEnded
  }, 'the profile')
  return asked
}

function busyWork(): number {
  let sum = 0
  for (let at = 0; at < 200_000; at++) sum += Math.sqrt(at)
  return sum
}
