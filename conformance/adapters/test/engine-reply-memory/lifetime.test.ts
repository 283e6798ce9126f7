/** How often, and for how long, the bytes of replies are in memory. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { eventually, Kit, request } from '../../src/kit.ts'
import { skip } from '../engine/native.ts'
import { large } from './large.ts'

const kit = new Kit('native')

/** A worker whose replies wait to be sent when it ends, by itself or not. */
const ending = `
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { connect } from 'node:net'
import { once } from 'node:events'
import { createApp } from 'volant'
if (isMainThread) {
  for (const how of ['terminate', 'exit', 'leave']) {
    const worker = new Worker(new URL(import.meta.url), { workerData: how })
    const [port] = await once(worker, 'message')
    const sockets = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'))
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
    }
    // Each reply has begun, and nobody reads it.
    await Promise.all(sockets.map((socket) => once(socket, 'readable')))
    const ended = once(worker, 'exit')
    if (how === 'terminate') void worker.terminate()
    else worker.postMessage(how)
    await ended
    for (const socket of sockets) socket.destroy()
    console.log(how)
  }
} else {
  const app = createApp({ adapter: { type: 'native' }, signals: false, limits: { shutdownTimeout: 0 } })
  const body = Buffer.alloc(12_000_000)
  app.get('/', () => body)
  const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
  parentPort.postMessage(port)
  parentPort.once('message', (how) => (how === 'exit' ? process.exit() : void app.close()))
}
`

test('a Buffer that 100 clients do not read is in memory once', { skip }, async () => {
  const app = kit.app()
  const body = Buffer.alloc(large, 7)
  const answered = new Set<string>()
  app.get('/:id', (ctx) => {
    answered.add(ctx.params.id)
    return body
  })
  await kit.serve(app, async (live) => {
    assert.equal((await live.ask('/first')).body.length, large)
    const before = process.memoryUsage.rss()
    const wires = await Promise.all(Array.from({ length: 100 }, () => live.connect()))
    for (const [id, wire] of wires.entries()) {
      wire.socket.pause()
      wire.send(request('GET', `/${id}`))
    }
    await eventually(() => answered.size === 101, 'every request dispatched')
    const added = process.memoryUsage.rss() - before
    // With a copy of what the sockets do not take of each it was 789 MB.
    assert.ok(added < 300_000_000, `${added} bytes`)
    const [wire] = wires
    assert.ok(wire)
    wire.socket.resume()
    assert.ok((await wire.reply()).body.equals(body))
  })
})

test('a worker may end while its replies wait to be sent', { skip }, async () => {
  const folder = mkdtempSync(join(import.meta.dirname, 'ending-'))
  try {
    const file = join(folder, 'ending.mjs')
    writeFileSync(file, ending.replaceAll('\\\\', '\\'))
    const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 120_000 })
    assert.deepEqual(stdout.trim().split('\n'), ['terminate', 'exit', 'leave'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
