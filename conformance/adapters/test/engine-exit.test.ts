import assert from 'node:assert/strict'
import { test } from 'node:test'
import { within } from '../src/kit.ts'
import { Wire } from '../src/wire.ts'
import { Child } from './engine/child.ts'
import type { Manner } from './engine/exit.ts'
import { skip } from './engine/native.ts'

/** Replies a process gives before it ends: one a connection, so that all of them may be in one slice. */
const replies = 6
const processes = 6
const exits: [Manner, string][] = [
  ['sync', 'process.exit in the handler'],
  ['async', 'process.exit in an async handler'],
  ['immediate', 'process.exit in setImmediate'],
  ['tick', 'process.exit in nextTick'],
  ['stream', 'process.exit after a streamed reply'],
  ['by-reference', 'process.exit after a reply by reference'],
  ['exit-code', 'an exit code and app.close()'],
]

for (const [manner, what] of exits) {
  test(`${what}: the client has the whole reply`, { skip }, async () => {
    let lost = 0
    for (let started = 0; started < processes; started += 2) {
      lost += (await lostReplies(manner)) + (await lostReplies(manner))
    }
    assert.equal(lost, 0, `replies lost of ${processes * replies}`)
  })
}

/** Starts a process that ends with its last reply, and counts those that did not arrive. */
async function lostReplies(manner: Manner): Promise<number> {
  // The framework does not see the streamed reply, which the program writes to the exchange itself. In development it
  // says that the handler returned nothing, whenever the process lives until then.
  const child = new Child('exit', [manner, String(replies)], { env: { NODE_ENV: 'production' } })
  const port = await child.port()
  const wires = await Promise.all(Array.from({ length: replies }, () => open(port)))
  wires.forEach((wire, nonce) => wire.send(`GET /${nonce} HTTP/1.1\r\nHost: h\r\n\r\n`))
  const answers = await Promise.all(
    wires.map((wire) =>
      wire.reply().then(
        (reply) => (reply.json() as { nonce: string }).nonce,
        () => 'lost',
      ),
    ),
  )
  for (const wire of wires) wire.close()
  const { code, signal, errors } = await child.outcome
  assert.deepEqual({ code, signal, errors }, { code: 7, signal: null, errors: '' })
  return answers.filter((nonce, index) => nonce !== String(index)).length
}

function open(port: number): Promise<Wire> {
  return Wire.open({ host: '127.0.0.1', port, path: null, url: '' })
}

async function serving(scene: string): Promise<{ child: Child; wire: Wire }> {
  const child = new Child('late-work', [scene])
  const wire = await open(await child.port())
  return { child, wire }
}

const ended = { code: 0, signal: null, errors: '' }

async function outcome(child: Child) {
  const { code, signal, errors } = await within(child.outcome, 'the end of the process')
  return { code, signal, errors }
}

test('a process with nothing but an unreferenced server ends', { skip }, async () => {
  assert.deepEqual(await outcome(new Child('late-work', ['unref'])), ended)
})

test('with a request in flight an unreferenced server stays until the reply is out', { skip }, async () => {
  const { child, wire } = await serving('unref-later')
  wire.send('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n')
  assert.equal((await wire.reply()).text, 'slow')
  assert.deepEqual(await outcome(child), ended)
  wire.close()
})

test('after close() idle keep-alive clients do not keep the process', { skip }, async () => {
  const { child, wire } = await serving('close')
  const others = await Promise.all(
    [1, 2, 3].map(async () => {
      const other = await open(wire.socket.remotePort as number)
      assert.equal((await other.send('GET /quick HTTP/1.1\r\nHost: h\r\n\r\n').reply()).text, 'quick')
      return other
    }),
  )
  assert.equal((await wire.send('GET /close HTTP/1.1\r\nHost: h\r\n\r\n').reply()).text, 'closing')
  await child.line(/^closed$/m)
  assert.deepEqual(await outcome(child), ended)
  for (const other of [wire, ...others]) other.close()
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(
    `${signal}: what is in flight is answered, idle connections are closed, then the process ends`,
    { skip },
    async () => {
      const { child, wire } = await serving('signals')
      const idle = await open(wire.socket.remotePort as number)
      wire.send('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n')
      await child.line(/^dispatched$/m)
      child.process.kill(signal)
      assert.equal(await idle.ended(), 'end')
      const reply = await wire.reply()
      assert.deepEqual([reply.text, reply.headers['connection']], ['slow', 'close'])
      const { errors, ...end } = await outcome(child)
      assert.deepEqual(end, { code: 0, signal: null })
      // After Ctrl-C a close that takes a second, as on a busy machine, says what it waits for.
      assert.match(errors, signal === 'SIGINT' ? /^(volant: closing waits for .*\n)?$/ : /^$/)
      for (const each of [wire, idle]) each.close()
    },
  )
}
