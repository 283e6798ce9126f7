import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import { createApp } from 'volant'
import { visit } from '../src/soak-client.ts'
import { largeBytes, streamParts } from '../src/soak-figures.ts'

function traffic(port: number, target: number) {
  return { port, target, sent: 0, answered: 0, aborts: 0 }
}

test('clients of a server that answers rightly: all that stay get their replies', async () => {
  const app = createApp({ signals: false })
  app.get('/now/:nonce', (ctx) => ctx.params.nonce)
  app.get('/later/:nonce', async (ctx) => ctx.params.nonce)
  app.get('/large/:nonce', (ctx) => Buffer.alloc(largeBytes, `${ctx.params.nonce} `))
  app.get('/stream/:nonce', (ctx) => ctx.params.nonce.repeat(streamParts))
  app.post('/echo', (ctx) => ctx.bodyBytes)
  const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
  const run = traffic(port as number, 20_000)
  await Promise.all(Array.from({ length: 10 }, () => visit(run)))
  await app.close()
  assert.ok(run.sent >= 20_000)
  assert.ok(run.answered > 0.9 * run.sent && run.answered < run.sent, JSON.stringify(run))
  assert.ok(run.aborts > 20, JSON.stringify(run))
})

/** A server that answers every request with what `answer` makes of its number. */
async function lying(
  answer: (index: number, path: string, socket: Socket) => string | null,
): Promise<Server> {
  const server = createServer((socket) => {
    let index = 0
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      for (const [, path] of text.matchAll(/^(?:GET|POST) (\S+) HTTP/gm)) {
        const body = answer(index++, path as string, socket)
        if (body !== null) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const lies: [string, Parameters<typeof lying>[0], RegExp][] = [
  ['the reply of another request', () => 'another', /the reply of another request/],
  [
    'a connection that ends',
    (_, _path, socket) => (socket.destroy(), null),
    /ended a connection with \d+ replies to come/,
  ],
]

for (const [what, answer, complaint] of lies) {
  test(`${what} is noticed`, async () => {
    const server = await lying(answer)
    const { port } = server.address() as { port: number }
    const run = traffic(port, 1_000_000)
    await assert.rejects(visit(run), complaint)
    server.close()
  })
}
