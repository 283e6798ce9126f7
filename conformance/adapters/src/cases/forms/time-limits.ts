import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { reach } from '../../clock.ts'
import { deferred, eventually, type Kit, request, turns, unchanging } from '../../kit.ts'
import { type, part, end, descriptors, savedForms } from './kit.ts'

export function formsTimeLimits(kit: Kit): void {
  describe('forms', () => {
    const { folder, saving, nothingLeft } = savedForms(kit)

    test('a client that is too slow is 408, and leaves no file', async (t) => {
      const clock = kit.clock(t)
      const requestTimeout = clock.isHeld ? 600_000 : 500
      const { app, ends } = saving({ limits: { requestTimeout, headersTimeout: 200 } })
      await kit.serve(app, async (live) => {
        const before = descriptors()
        const wire = await live.connect()
        wire.send(
          request('POST', '/save', { 'content-type': type, 'content-length': '1000' }, part('name=a', 'x')),
        )
        // While nobody reads, the time of the client stands still.
        await eventually(() => readdirSync(folder).length === 1, 'the part is saved')
        await turns()
        await reach(clock, requestTimeout, () => ends.length > 0)
        assert.equal((await wire.reply()).status, 408)
        await eventually(() => ends.length === 1, 'the handler ended')
        assert.deepEqual(ends, ['E_REQUEST_TIMEOUT'])
        wire.close()
        await nothingLeft(app, before)
      })
    })

    test('a handler that stops reading holds the client back, and its time limit ends it', async (t) => {
      const clock = kit.clock(t)
      // Less than the time that a client has for its body.
      const handlerTimeout = clock.isHeld ? 20_000 : 500
      const app = kit.app({ limits: { maxBodySize: 2 ** 30, maxFileSize: 2 ** 30 } })
      const goOn = deferred()
      app.post('/slow', { bodyMode: 'stream' }, async (ctx) => {
        let length = 0
        for await (const each of ctx.parts()) {
          await goOn.promise
          for await (const chunk of each) length += chunk.length
        }
        return length
      })
      app.post('/never', { bodyMode: 'stream', handlerTimeout }, async (ctx) => {
        for await (const each of ctx.parts()) {
          await each.toFile(folder)
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        }
      })
      await kit.serve(app, async (live) => {
        const before = descriptors()
        const [count, piece] = [50, 'x'.repeat(1_000_000)]
        const size = count * piece.length
        const head = part('name=a; filename=b', '').slice(0, -2)
        const length = String(head.length + size + 2 + end.length)
        const wire = await live.connect()
        wire.send(request('POST', '/slow', { 'content-type': type, 'content-length': length }, head))
        for (let at = 0; at < count; at++) wire.send(piece)
        wire.send(`\r\n${end}`)
        await unchanging(() => wire.socket.writableLength, 'what is still to be sent')
        assert.ok(wire.socket.writableLength > size / 2)
        goOn.resolve()
        assert.equal((await wire.reply()).text, String(size))
        wire.close()
        const second = await live.connect()
        const small = part('name=a; filename=b', 'saved')
        second.send(request('POST', '/never', { 'content-type': type, 'content-length': '1000' }, small))
        await eventually(() => readdirSync(folder).length === 1, 'the part is saved')
        await reach(clock, handlerTimeout, () => second.received.length > 0)
        assert.equal((await second.reply()).status, 503)
        second.close()
        await nothingLeft(app, before)
      })
    })
  })
}
