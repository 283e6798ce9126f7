import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seeded } from '@volant/test-kit'
import { request } from '../src/kit.ts'
import { Wire, type WireReply } from '../src/wire.ts'
import { Child } from './engine/child.ts'
import { skip } from './engine/native.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
// The build shares the target folder with other builds, so that dependencies without the feature are compiled once.
// aws-lc alone takes minutes.
const target = resolve(root, process.env['CARGO_TARGET_DIR'] ?? 'target')
const noCargo = spawnSync('cargo', ['--version']).error ? 'cargo was not found' : false

/** Stages by the number `armFault` takes. A reply to the arming request passes the last two itself. */
const stages: [number, number, string][] = [
  [0, 1, 'parsing'],
  [1, 1, 'routing'],
  [2, 2, 'encoding'],
  [3, 2, 'flushing'],
]

describe('panics in the engine', { skip: skip || noCargo }, () => {
  let child: Child
  let port = 0
  let panics = 0

  before(() => {
    const { status, stderr } = spawnSync(
      'cargo',
      ['build', '--locked', '--quiet', '-p', 'volant-node', '--features', 'faults'],
      { cwd: root, encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    const library = process.platform === 'darwin' ? 'libvolant_node.dylib' : 'libvolant_node.so'
    const addon = join(target, 'faults.node')
    copyFileSync(join(target, 'debug', library), addon)
    child = new Child('faults', [], { env: { VOLANT_ENGINE: addon }, limit: 300_000 })
    return child.port().then((given) => {
      port = given
    })
  })

  after(async () => {
    await ask('/quit')
    const { code, signal, errors } = await child.outcome
    assert.deepEqual({ code, signal }, { code: 0, signal: null })
    assert.match(errors, /injected panic/)
  })

  async function connect(): Promise<Wire> {
    return Wire.open({ host: '127.0.0.1', port, path: null, url: '' })
  }

  async function ask(path: string): Promise<WireReply> {
    const wire = await connect()
    const reply = await wire.send(request('GET', path)).reply()
    wire.close()
    return reply
  }

  /** The process serves, nothing is in flight, and there were `more` panics since the last call. */
  async function unharmed(more: number): Promise<void> {
    assert.equal((await ask('/alive')).text, 'alive')
    const stats = (await ask('/stats')).json() as Record<string, number>
    panics += more
    // The request for the numbers itself is in flight.
    assert.deepEqual([stats['panics'], stats['inFlight']], [panics, 1])
  }

  for (const [stage, nth, name] of stages) {
    test(`${name}: 500 on that connection, and no other notices`, async () => {
      const other = await connect()
      assert.equal((await other.send(request('GET', '/before')).reply()).text, 'before')
      const wire = await connect()
      await ask(`/arm/${stage}/${nth}`)
      const reply = await wire.send(request('GET', '/x')).reply()
      assert.deepEqual([reply.status, reply.headers['connection']], [500, 'close'])
      assert.equal((reply.json() as { code: string }).code, 'E_INTERNAL')
      assert.equal(await wire.ended(), 'end')
      assert.equal((await other.send(request('GET', '/after')).reply()).text, 'after')
      for (const each of [wire, other]) each.close()
      await unharmed(1)
    })
  }

  test('pipelined: the replies before the panic arrive', async () => {
    const wire = await connect()
    await ask('/arm/2/4')
    wire.send(Buffer.concat(['/1', '/2', '/3', '/4'].map((path) => request('GET', path))))
    assert.equal((await wire.reply()).text, '1')
    assert.equal((await wire.reply()).text, '2')
    assert.equal((await wire.reply()).status, 500)
    await wire.ended()
    wire.close()
    await unharmed(1)
  })

  test('a body of a POST, and a large reply by reference', async () => {
    for (const [bytes, stage, nth] of [
      [request('POST', '/body', {}, 'x'.repeat(100_000)), 0, 1],
      [request('POST', '/body', {}, 'x'.repeat(100_000)), 2, 2],
      [request('GET', '/large'), 2, 2],
      [request('GET', '/large'), 3, 2],
    ] as const) {
      await ask(`/arm/${stage}/${nth}`)
      const wire = await connect()
      assert.equal((await wire.send(bytes).reply()).status, 500)
      wire.close()
      await unharmed(1)
    }
  })

  test('after the head of a reply was sent the connection is cut off', async () => {
    for (const [stage, nth] of [
      [2, 4],
      [3, 4],
    ]) {
      await ask(`/arm/${stage}/${nth}`)
      const wire = await connect()
      await assert.rejects(wire.send(request('GET', '/stream')).reply(), /the connection ended in a reply/)
      wire.close()
      await unharmed(1)
    }
  })

  test('panics at 150 random places, each among 12 connections', { timeout: 300_000 }, async () => {
    const random = seeded(11)
    const paths = ['/large', '/stream', '/a', '/b']
    let cut = 0
    for (let round = 0; round < 150; round++) {
      // The panic of the round before may still wait, and meet this request.
      await ask(`/arm/${round % 4}/${2 + Math.floor(random() * 20)}`).catch(() => {})
      const clients = Array.from({ length: 12 }, async () => {
        const wire = await connect()
        const asked = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
          return paths[Math.floor(random() * paths.length)] as string
        })
        wire.send(Buffer.concat(asked.map((path) => request('GET', path))))
        for (const path of asked) {
          const reply = await wire.reply().catch(() => null)
          if (reply?.status !== 200) {
            cut++
            assert.ok(reply === null || reply.status === 500)
            break
          }
          const length = { '/large': 200_000, '/stream': 20 }[path] ?? 1
          assert.equal(reply.body.length, length)
        }
        wire.close()
      })
      await Promise.all(clients)
    }
    assert.ok(cut > 75, `only ${cut} connections met a panic`)
    // The last one may still be armed: put it out of reach.
    await ask('/arm/0/1000000').catch(() => {})
    await ask('/arm/0/1000000')
    const stats = (await ask('/stats')).json() as Record<string, number>
    panics = stats['panics'] as number
    await unharmed(0)
  })
})
