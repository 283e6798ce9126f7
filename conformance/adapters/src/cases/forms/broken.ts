import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually, type Kit, request } from '../../kit.ts'
import { type, part, end, whole, descriptors, savedForms } from './kit.ts'

export function brokenForms(kit: Kit): void {
  describe('forms', () => {
    const { folder, saving, nothingLeft } = savedForms(kit)

    test('a client that leaves at any of 40 places leaves no file and no descriptor', async () => {
      const { app, begun, ends } = saving()
      const reports = kit.reports.length
      const bytes = request('POST', '/save', { 'content-type': type }, whole)
      const head = bytes.length - whole.length
      await kit.serve(app, async (live) => {
        const before = descriptors()
        for (let place = 0; place < 40; place++) {
          const cut = head + Math.floor((place * (whole.length - 1)) / 39)
          const wire = await live.connect()
          wire.send(bytes.subarray(0, cut))
          await eventually(() => begun() === place + 1, 'the handler began')
          if (place % 3 === 0) await eventually(() => wire.socket.writableLength === 0, 'it was sent')
          if (place % 2 === 0) wire.reset()
          else wire.close()
          await eventually(() => ends.length === place + 1, 'the handler ended')
        }
        assert.deepEqual(new Set(ends), new Set(['E_ABORTED']))
        await nothingLeft(app, before)
        assert.equal((await live.post('/save', type, part('name=a', '') + end)).status, 200)
        for (const name of readdirSync(folder)) rmSync(join(folder, name))
      })
      assert.equal(kit.reports.length, reports)
    })

    test('a client that closes its sending side too early left', kit.needs('half-close'), async () => {
      const { app, ends } = saving()
      await kit.serve(app, async (live) => {
        const before = descriptors()
        for (const cut of [100, 150_000, 250_000]) {
          const wire = await live.connect()
          wire.send(request('POST', '/save', { 'content-type': type }, whole).subarray(0, cut + 200))
          wire.socket.end()
        }
        await eventually(() => ends.length === 3, 'the handlers ended')
        assert.deepEqual(new Set(ends), new Set(['E_ABORTED']))
        await nothingLeft(app, before)
      })
    })

    test('files that were saved are removed when a later part is refused', async () => {
      const { app, ends } = saving({ limits: { maxFieldSize: 10 } })
      await kit.serve(app, async (live) => {
        const before = descriptors()
        for (const [rest, status] of [
          [`${part('name=x', 'x'.repeat(11))}${end}`, 413],
          [`${part('', 'x')}${end}`, 400],
          ['', 400],
        ] as const) {
          const reply = await live.post('/save', type, part('name=a; filename=b', 'saved') + rest)
          assert.equal(reply.status, status)
        }
        assert.deepEqual(ends, ['E_FORM_TOO_LARGE', 'E_BODY_MALFORMED', 'E_BODY_MALFORMED'])
        await nothingLeft(app, before)
      })
    })
  })
}
