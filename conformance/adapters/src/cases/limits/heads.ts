import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Kit, request } from '../../kit.ts'
import { edges } from './edges.ts'

/** Sizes and counts of what stands in the head of a request. */
export function headLimits(kit: Kit): void {
  describe('limits', () => {
    for (const [count, status] of edges(1_000, 400)) {
      test(`${count} query keys are ${status}`, async () => {
        const app = kit.app()
        app.get('/q', (ctx) => Object.keys(ctx.query).length)
        await kit.serve(app, async (live) => {
          const query = Array.from({ length: count }, (_, at) => at.toString(36)).join('&')
          assert.equal((await live.ask(`/q?${query}`)).status, status)
        })
      })

      test(`${count} form keys are ${status}`, async () => {
        const app = kit.app()
        app.post('/f', (ctx) => Object.keys(ctx.body as object).length)
        await kit.serve(app, async (live) => {
          const form = Array.from({ length: count }, (_, at) => `k${at}=1`).join('&')
          assert.equal((await live.post('/f', 'application/x-www-form-urlencoded', form)).status, status)
        })
      })
    }

    test('keys are counted, not only different ones', async () => {
      const app = kit.app({ limits: { maxQueryKeys: 3 } })
      app.get('/q', (ctx) => ({ query: ctx.query }))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/q?a&a&a')).status, 200)
        assert.equal((await live.ask('/q?a&a&a&a')).status, 400)
        assert.equal((await live.ask('/q?&&&&a&a&a&&')).status, 200)
      })
    })

    for (const [length, status] of edges(256, 414)) {
      test(`a parameter of ${length} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/p/:v', (ctx) => ctx.params.v.length)
        await kit.serve(app, async (live) =>
          assert.equal((await live.ask(`/p/${'x'.repeat(length)}`)).status, status),
        )
      })
    }

    test('the rest of a path is bounded as the target is; parameters before it as others are', async () => {
      const app = kit.app()
      app.get('/files/:kind/*rest', (ctx) => ctx.params.rest.length)
      await kit.serve(app, async (live) => {
        const long = await live.ask(`/files/a/${'x/'.repeat(2_000)}`)
        assert.deepEqual([long.status, long.text], [200, '4000'])
        assert.equal((await live.ask(`/files/${'x'.repeat(257)}/a`)).status, 414)
        assert.equal((await live.ask(`/files/a/${'x'.repeat(8_192)}`)).status, 414)
      })
    })

    for (const [length, status] of edges(8_192, 414)) {
      test(`a target of ${length} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/q', () => 'ok')
        await kit.serve(app, async (live) =>
          assert.equal((await live.ask(`/q?${'x'.repeat(length - 3)}`)).status, status),
        )
      })
    }

    for (const [count, status] of edges(100, 431)) {
      test(
        `${count} header fields are ${status}`,
        count > 100 ? {} : kit.needs('past-98-fields'),
        async () => {
          const app = kit.app()
          app.get('/h', (ctx) => Object.keys(ctx.headers).length)
          await kit.serve(app, async (live) => {
            // Host and Connection are two of them.
            const more = Object.fromEntries(Array.from({ length: count - 2 }, (_, at) => [`x-${at}`, 'v']))
            const reply = await live.ask('/h', { headers: more })
            assert.equal(reply.status, status)
            if (status === 200) assert.equal(reply.text, String(count))
          })
        },
      )
    }

    for (const [maxHeaders, count] of [
      [100, 101],
      [100, 1_000],
      [10, 11],
      [10, 40],
    ] as const) {
      test(
        `${count} header fields where ${maxHeaders} may be are E_TOO_MANY_FIELDS, and the connection ends`,
        count > 98 ? kit.needs('past-98-fields') : {},
        async () => {
          const app = kit.app({ limits: { maxHeaders } })
          app.get('/h', () => 'ok')
          await kit.serve(app, async (live) => {
            const wire = await live.connect()
            const fields = 'x: v\r\n'.repeat(count - 1)
            wire.send(request('GET', '/h')).send(`GET /h HTTP/1.1\r\nHost: h\r\n${fields}\r\n`)
            assert.equal((await wire.reply()).status, 200)
            const reply = await wire.reply()
            assert.equal((reply.json() as { code: string }).code, 'E_TOO_MANY_FIELDS')
            await wire.ended()
          })
        },
      )
    }

    for (const [length, status] of edges(8_192, 431)) {
      test(`a header line of ${length} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/h', () => 'ok')
        await kit.serve(app, async (live) => {
          const reply = await live.ask('/h', {
            headers: { 'x-long': 'v'.repeat(length - 'x-long: '.length) },
          })
          assert.equal(reply.status, status)
        })
      })
    }

    for (const [size, status] of [
      [12_000, 200],
      [20_000, 431],
    ] as const) {
      test(`a head of about ${size} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/h', () => 'ok')
        await kit.serve(app, async (live) => {
          const more = Object.fromEntries(
            Array.from({ length: 10 }, (_, at) => [`x-${at}`, 'v'.repeat(size / 10)]),
          )
          assert.equal((await live.ask('/h', { headers: more })).status, status)
        })
      })
    }
  })
}
