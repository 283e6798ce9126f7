import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { type InvalidMessage, VolantError } from 'volant'
import type { Kit } from '../../kit.ts'
import { Peer } from '../../peer.ts'

/** Schemas of messages. */
export function socketSchemas(kit: Kit): void {
  describe('WebSockets', () => {
    describe('schemas', () => {
      const In = z.object({ text: z.string(), at: z.coerce.number().default(7) })
      const Out = z.object({ text: z.string(), at: z.number() })

      test('messages are JSON, checked and typed in both directions', async () => {
        const app = kit.app({ undeclaredProperties: 'strip' })
        app.ws('/', {
          in: In,
          out: Out,
          message(ws, { text, at }) {
            ws.send({ text: text.toUpperCase(), at, secret: 'x' } as z.input<typeof Out>)
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.deepEqual(JSON.parse(await peer.send('{"text":"a","at":"3"}').text()), { text: 'A', at: 3 })
          assert.deepEqual(JSON.parse(await peer.send('{"text":"b"}').text()), { text: 'B', at: 7 })
        })
      })

      const refused: [string, string | Buffer, number][] = [
        ['no JSON', '{"text"', 1007],
        ['an empty message', '', 1007],
        ['another shape', '{"text":1}', 1008],
        ['JSON that is nested too deeply', `${'['.repeat(65)}${']'.repeat(65)}`, 1007],
        ['a key __proto__', '{"text":"a","__proto__":{}}', 1007],
        ['bytes', Buffer.from('{"text":"a"}'), 1003],
      ]
      for (const [name, message, code] of refused) {
        test(`${name} closes with ${code}`, async () => {
          const app = kit.app()
          let got = 0
          app.ws('/', { in: In, message: () => void got++ })
          await kit.serve(app, async (live) => {
            const peer = await Peer.open(live, '/')
            assert.equal((await peer.send(message).closed())[0], code)
          })
          assert.equal(got, 0)
        })
      }

      test('the reason names the first fault, and is never too long', async () => {
        const app = kit.app()
        const said = (text: string) => ({ in: z.object({ text: z.literal(text) }) })
        app.ws('/short', { ...said('a') })
        // A character of four bytes stands where the reason is cut, wherever that is.
        for (let shift = 0; shift < 4; shift++)
          app.ws(`/${shift}`, { ...said(`${'a'.repeat(shift)}${'😀'.repeat(40)}`) })
        await kit.serve(app, async (live) => {
          const [, reason] = await (await Peer.open(live, '/short')).send('{"text":1}').closed()
          assert.match(reason, /^the message is not what its schema asks for: #\/text .*"a"/)
          for (let shift = 0; shift < 4; shift++) {
            const [code, cut] = await (await Peer.open(live, `/${shift}`)).send('{"text":1}').closed()
            assert.equal(code, 1008)
            assert.ok(cut.endsWith('...') && Buffer.byteLength(cut) <= 123, cut)
            assert.ok(!cut.includes('\ufffd'), cut)
          }
        })
      })

      test('the hook invalid decides in place of that', async () => {
        const app = kit.app()
        const problems: InvalidMessage[] = []
        app.ws('/', {
          in: In,
          message: (ws, { text }) => ws.send(text),
          invalid(ws, problem) {
            problems.push(problem)
            ws.json({ wrong: problem.code })
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal(await peer.send('{').text(), '{"wrong":1007}')
          assert.equal(await peer.send('{"text":1}').text(), '{"wrong":1008}')
          assert.equal(await peer.send('{"text":"fine"}').text(), 'fine')
        })
        const [first, second] = problems
        assert.deepEqual([first?.message, first?.issues], ['{', []])
        assert.deepEqual(
          [second?.issues[0]?.in, second?.issues[0]?.pointer, second?.message],
          ['message', '#/text', '{"text":1}'],
        )
      })

      test('a sent value that is not what out says throws, and is not sent', async () => {
        const app = kit.app()
        const errors: unknown[] = []
        app.ws('/', {
          out: Out,
          message(ws) {
            ws.send({ text: 1 } as unknown as z.input<typeof Out>)
          },
          error(ws, error) {
            errors.push((error as VolantError).code)
            ws.send({ text: 'sorry', at: 1 })
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal(await peer.send('go').text(), '{"text":"sorry","at":1}')
        })
        assert.deepEqual(errors, ['E_RESPONSE_INVALID'])
      })
    })
  })
}
