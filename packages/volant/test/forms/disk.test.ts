/** A full disk while a form is written to it, as a small file system, which needs root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createApp, HTTPError } from 'volant'

const disk = mkdtempSync(join(tmpdir(), 'forms-disk-'))
const mounted =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', disk]).status === 0
const skip = !mounted && 'a file system of 512 KiB cannot be mounted here'

after(() => {
  if (mounted) spawnSync('umount', ['--lazy', disk])
  rmSync(disk, { recursive: true, force: true })
})

test('an upload to a full disk is 507, says why, and leaves no file', { skip }, async () => {
  const causes: unknown[] = []
  const app = createApp({ signals: false })
  app.onResponse((_, { error }) => {
    if (error instanceof HTTPError) causes.push((error.cause as NodeJS.ErrnoException).code)
  })
  app.post('/f', { bodyMode: 'stream', maxBodySize: 10_000_000 }, async (ctx) => {
    const sizes: number[] = []
    for await (const part of ctx.parts()) sizes.push((await part.toFile(disk)).size)
    return sizes
  })
  const send = async (...sizes: number[]) => {
    const form = new FormData()
    for (const size of sizes) form.append('file', new File(['x'.repeat(size)], 'f'))
    const reply = await app.inject({ method: 'POST', url: '/f', body: form })
    return [reply.status, reply.json()] as [number, { code?: string; detail?: string }]
  }
  for (let round = 0; round < 3; round++) {
    const [status, { code, detail }] = await send(100_000, 2_000_000)
    assert.deepEqual([status, code, detail], [507, 'E_STORAGE_FULL', 'there is no room for the file'])
    assert.deepEqual(readdirSync(disk), [])
  }
  assert.deepEqual(causes, ['ENOSPC', 'ENOSPC', 'ENOSPC'])
  writeFileSync(join(disk, 'filler'), Buffer.alloc(524_288 - 4096))
  assert.equal((await send(10_000))[0], 507)
  rmSync(join(disk, 'filler'))
  assert.deepEqual(await send(100_000, 200_000), [200, [100_000, 200_000]])
})
