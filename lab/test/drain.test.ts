import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { freePort } from '@volant/test-kit'
import { type AdapterType, createApp } from 'volant'
import { Load, visit } from '../src/drain/client.ts'
import { nginxVersion } from '../src/drain/nginx.ts'
import { laboratory } from './laboratory.ts'

const lab = laboratory()
after(() => lab.close())

/** Why an adapter cannot run here, or false. */
function lackOf(adapter: AdapterType): string | false {
  try {
    createApp({ adapter: { type: adapter } })
    return false
  } catch (error) {
    return (error as Error).message
  }
}

// The bar of 20 stops is for `npm run lab -- drain`; what is wrong with every stop shows here.
const runs: [AdapterType, string, readonly string[]][] = [
  ['native', 'direct', ['--direct']],
  ['node-http', 'direct', ['--direct']],
  ['uwebsockets', 'direct', ['--direct']],
  ['native', 'behind nginx', ['--behind', 'nginx']],
]
/**
 * Other adapters than the engine accept in a round of the event loop and close the listening socket in the next. The
 * kernel resets a connection that comes in between, which is one where the process waits for a core between the two.
 */
const oneTooLate = /\n {2}failed {6}1\n {9}1 {2}(?:GET|POST): ECONNRESET without a first reply\n/
for (const [adapter, way, flags] of runs) {
  const missing = flags.includes('nginx') && nginxVersion() === null && 'nginx is not installed'
  test(
    `no request is lost by stops of ${adapter}, ${way}`,
    { skip: missing || lackOf(adapter) },
    async () => {
      const short = ['--stops', '2', '--clients', '12', '--seed', '3']
      const { code, output, errors } = await lab.run(['drain', ...flags, '--server', adapter, ...short])
      const mayMiss = adapter !== 'native' && oneTooLate.test(output)
      assert.equal(code, mayMiss ? 1 : 0, output + errors)
      assert.match(output, new RegExp(`^${adapter}, ${way}.*: 2 stops in `))
      const [, sent = ''] = /\n {2}requests {4}([\d,]+), of which [\d,]+ POST\n/.exec(output) ?? []
      assert.ok(Number(sent.replaceAll(',', '')) > 100, output)
      const others = mayMiss ? output.replace(oneTooLate, '\n  failed      0\n') : output
      assert.match(others, /\n {2}failed {6}0\n {2}run twice {3}0 POST\n$/)
      assert.deepEqual(lab.leftovers(), [])
    },
  )
}

/** A server that hands each request to `answer`. */
async function lying(answer: (nonce: string, socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      for (const [, nonce] of text.matchAll(/^(?:GET|POST) \/(\d+) HTTP/gm)) answer(nonce as string, socket)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const reply = (status: number, body: string) =>
  `HTTP/1.1 ${status} Some\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const lies: [string, Parameters<typeof lying>[0], RegExp][] = [
  ['a status that is not 200', (nonce, socket) => socket.write(reply(502, nonce)), /: status 502$/],
  [
    'the reply of another request',
    (_, socket) => socket.write(reply(200, 'x')),
    /: a reply that is not its own$/,
  ],
  ['a reply that comes twice', (nonce, socket) => socket.write(reply(200, nonce).repeat(2)), /not its own$/],
  ['an end', (_, socket) => socket.end(), /: the connection ended without a first reply$/],
  ['half a reply', (nonce, socket) => socket.end(reply(200, nonce).slice(0, -1)), /without a first reply$/],
  ['a reset', (_, socket) => socket.resetAndDestroy(), /: ECONNRESET without a first reply$/],
]

for (const [what, answer, kind] of lies) {
  test(`${what} is a failure`, async () => {
    const server = await lying(answer)
    const load = new Load([(server.address() as { port: number }).port])
    const done = visit(load, () => 0.4)
    while (load.failed.size === 0) await new Promise(setImmediate)
    load.stopped = true
    await done
    const [first = ''] = [...load.failed.keys()]
    assert.match(first, kind)
    assert.equal(load.answered, 0)
    server.close()
  })
}

test('a reset of a connection that has had a reply is another failure', async () => {
  const server = await lying((nonce, socket) => {
    if (nonce === '1') socket.write(reply(200, nonce))
    else socket.resetAndDestroy()
  })
  const load = new Load([(server.address() as { port: number }).port])
  const done = visit(load, () => 0.4)
  while (load.failed.size === 0) await new Promise(setImmediate)
  load.stopped = true
  await done
  const [first = ''] = [...load.failed.keys()]
  assert.match(first, /: ECONNRESET without a reply$/)
  server.close()
})

test('an end between two requests, a reply that closes and a refused connection are no failures', async () => {
  let connections = 0
  const server = await lying((nonce, socket) => {
    const text = reply(200, nonce)
    if (Number(nonce) % 2 === 0) socket.write(text.replace('\r\n', '\r\nConnection: close\r\n'))
    else socket.write(text, () => socket.end())
  })
  server.on('connection', () => connections++)
  const load = new Load([await freePort(), (server.address() as { port: number }).port])
  // A pause after each reply, in which the end comes.
  const done = visit(load, () => 0.6)
  while (load.answered < 6) await new Promise(setImmediate)
  load.stopped = true
  await done
  assert.deepEqual([...load.failed], [])
  assert.equal(connections, load.sent)
  server.close()
})
