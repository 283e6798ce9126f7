import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request, within, turns } from '../../kit.ts'
import { long, get, appsOf, serve } from './kit.ts'

export function drainOfRequests(kit: Kit): void {
  describe('draining', () => {
    const appOf = appsOf(kit)
    test('the last reply of what was received says close', kit.needs('pipelining'), async () => {
      for (const wait of [false, true]) {
        const app = appOf({ drainIdle: long })
        const held = deferred()
        const entered = deferred()
        app.get('/held', async () => {
          entered.resolve()
          await held.promise
          return 'held'
        })
        app.post('/post', async (ctx) => {
          if (wait) await turns(1)
          return ctx.bodyText
        })
        const live = await serve(app)
        const wire = await live.connect()
        // A POST waits for what is before it, and holds back what is behind it.
        const post = (text: string) => request('POST', '/post', { 'content-type': 'text/plain' }, text)
        wire.send(Buffer.concat([request('GET', '/held'), post('a'), get, post('b')]))
        await entered.promise
        const closing = app.close()
        held.resolve()
        const replies = [await wire.reply(), await wire.reply(), await wire.reply(), await wire.reply()]
        assert.deepEqual(
          replies.map(({ text, headers }) => [text, headers['connection'] === 'close']),
          [
            ['held', false],
            ['a', false],
            ['x', false],
            ['b', true],
          ],
        )
        await wire.ended()
        wire.close()
        await within(closing, 'close')
      }
    })

    test(
      'requests that come together while it closes are all answered',
      kit.needs('pipelining'),
      async () => {
        const app = appOf({ drainIdle: long })
        const live = await serve(app)
        const wire = await live.connect()
        assert.equal((await wire.send(get).reply()).text, 'x')
        const closing = app.close()
        wire.send(Buffer.concat([get, get, get]))
        const says = [await wire.reply(), await wire.reply(), await wire.reply()].map(
          ({ headers }) => headers['connection'] === 'close',
        )
        assert.deepEqual(says, [false, false, true])
        await wire.ended()
        wire.close()
        await within(closing, 'close')
      },
    )

    test('half of a body is waited for, although idle connections are closed', async () => {
      const app = appOf({ drainIdle: 0 })
      app.post('/post', (ctx) => ctx.bodyText)
      const live = await serve(app)
      const [wire, idle] = [await live.connect(), await live.connect()]
      const post = request('POST', '/post', { 'content-type': 'text/plain' }, 'abcd')
      wire.send(post.subarray(0, -2))
      await eventually(() => app.stats().inFlight === 1 || kit.adapter === 'native', 'the head is read')
      await eventually(() => app.stats().connections === 2, 'both are accepted')
      const closing = app.close()
      if (kit.can('idle-connections')) await idle.ended()
      wire.send(post.subarray(-2))
      const reply = await wire.reply()
      assert.deepEqual([reply.text, reply.headers['connection']], ['abcd', 'close'])
      await wire.ended()
      wire.close()
      idle.close()
      await within(closing, 'close')
    })

    test(
      'half of a head is waited for, although idle connections are closed',
      kit.needs('idle-connections'),
      async () => {
        for (const first of [true, false]) {
          const app = appOf({ drainIdle: 0 })
          const live = await serve(app)
          const [wire, idle] = [await live.connect(), await live.connect()]
          if (!first) assert.equal((await wire.send(get).reply()).text, 'x')
          wire.send(get.subarray(0, 10))
          await eventually(() => app.stats().connections === 2, 'both are accepted')
          const closing = app.close()
          await idle.ended()
          wire.send(get.subarray(10))
          const reply = await wire.reply()
          assert.deepEqual([reply.text, reply.headers['connection']], ['x', 'close'])
          await wire.ended()
          wire.close()
          idle.close()
          await within(closing, 'close')
        }
      },
    )
  })
}
