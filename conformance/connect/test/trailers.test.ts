/** Trailer fields of requests and of replies, with the API of node:http. */
import assert from 'node:assert/strict'
import { requestBytes } from '../src/client.ts'
import type { Handle, Req } from '../src/layers.ts'
import { scenario, scenarios } from '../src/scenario.ts'

const replies: Record<string, Handle> = {
  'behind a stream': (_, res) => {
    res.writeHead(200, { 'content-type': 'text/plain', trailer: 'X-One, x-two' })
    res.write('one ')
    setImmediate(() => {
      res.write('two')
      res.addTrailers({ 'X-One': '1', 'x-two': ['a', 'b'], 'x-three': 'é' })
      res.end()
    })
  },
  'behind an empty body': (_, res) => {
    res.writeHead(200, { 'content-type': 'application/grpc' })
    res.addTrailers([
      ['grpc-status', '12'],
      ['grpc-message', ''],
    ])
    res.end()
  },
  'with a number': (_, res) => {
    res.write('x')
    res.addTrailers({ 'x-number': 5 as never })
    res.end()
  },
  'too late': (_, res) => {
    res.write('x')
    res.end()
    res.addTrailers({ 'x-late': '1' })
  },
  'of a reply with a length': (_, res) => {
    res.writeHead(200, { 'content-length': 4 })
    res.write('text')
    res.addTrailers({ 'x-one': '1' })
    res.end()
  },
  'of a reply without content': (_, res) => {
    res.writeHead(204)
    res.addTrailers({ 'x-one': '1' })
    res.end()
  },
  'that are wrong': (_, res) => {
    const codes: unknown[] = []
    const wrong: [string, unknown][] = [
      ['x\r\ny', '1'],
      ['', '1'],
      ['x', 'a\r\nb: c'],
      ['x', 'a\0'],
    ]
    for (const [name, value] of wrong) {
      try {
        res.addTrailers({ [name]: value as string })
        codes.push('taken')
      } catch (error) {
        codes.push((error as { code?: string }).code)
      }
    }
    res.write(JSON.stringify(codes))
    res.end()
  },
}

for (const [name, handle] of Object.entries(replies)) {
  scenarios('trailers of replies', {
    [name]: scenario({
      memory: false,
      trailers: true,
      build: (site) => {
        site.handle('GET', '/x', handle)
        site.handle('GET', '/after', (_, res) => res.end('after'))
      },
      async play(client) {
        const wire = await client.connect()
        const { status, text, trailers } = await wire.send(requestBytes('GET', '/x')).reply()
        const after = await wire.send(requestBytes('GET', '/after')).reply()
        return [status, text, named(trailers), after.text]
      },
    }),
  })
}

const told: Handle = (req, res) => {
  const before = req.rawTrailers.length
  req.resume()
  req.on('end', () => res.end(JSON.stringify([before, trailersOf(req), req.complete])))
}

function trailersOf(req: Req): unknown {
  return [req.trailers, req.rawTrailers, req.trailersDistinct]
}

scenarios('trailers of requests', {
  'are there when the body has ended': scenario({
    memory: false,
    trailers: true,
    build: (site) => site.streamed('POST', '/x', told),
    async play(client) {
      const wire = await client.connect()
      const head = 'POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'
      const some = await wire.send(`${head}X-One: 1\r\nx-two: a\r\nX-Two: b\r\n\r\n`).reply()
      const none = await wire.send(`${head}\r\n`).reply()
      assert.equal(some.status, 200)
      return [some.text, none.text]
    },
  }),
})

function named(trailers: readonly [string, string][]): unknown {
  return trailers.map(([name, value]) => `${name.toLowerCase()}: ${value}`)
}
