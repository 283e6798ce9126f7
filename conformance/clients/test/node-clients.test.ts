/** Tests a server with clients in Node.js: node:https, node:http2 and undici. */
import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { type Client, type ClientKind, kinds, type Reply } from '../src/clients.ts'
import { body, largeParts, onEach, type Place, type Site } from '../src/site.ts'

onEach('clients in Node.js', false, (place) => {
  for (const kind of kinds) describe(kind.name, { skip: place.lacks(kind.wire) }, () => cases(place, kind))
})

function cases(place: Place, kind: ClientKind): void {
  const ask = (name: string, run: (client: Client, site: Site) => Promise<void>): void => {
    test(name, { timeout: 30_000 }, () =>
      place.serve(kind.wire, async (site) => {
        const client = kind.make(site)
        try {
          await run(client, site)
        } finally {
          await client.close()
        }
      }),
    )
  }
  const isHttp2 = kind.name !== 'node:http without TLS beside h2c' && kind.wire !== 'https'

  ask('JSON; the handler knows the version, the protocol and the host', async (client, site) => {
    const reply = await client.ask('/json')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual(JSON.parse(await text(reply)), {
      httpVersion: isHttp2 ? '2' : '1.1',
      protocol: kind.wire === 'h2c' ? 'http' : 'https',
      host: new URL(site.url).host,
    })
  })

  for (const path of ['/echo', '/echo-stream']) {
    ask(`a body of more than 1 MiB both ways, ${path}`, async (client) => {
      const reply = await client.ask(path, { method: 'POST', body })
      assert.equal(reply.status, 200)
      assert.ok((await buffer(reply.body)).equals(body))
    })
  }

  ask('a large download', async (client) => {
    const reply = await client.ask('/large')
    let bytes = 0
    for await (const part of reply.body) {
      bytes += (part as Buffer).length
    }
    assert.equal(bytes, largeParts * body.length)
  })

  ask('a streaming reply arrives part by part', async (client) => {
    const reply = await client.ask('/parts/1')
    const parts = reply.body[Symbol.asyncIterator]()
    assert.equal(String((await parts.next()).value), 'first\n')
    assert.equal((await client.ask('/parts/1/next')).status, 204)
    assert.equal(String((await parts.next()).value), 'second\n')
    assert.equal((await parts.next()).done, true)
  })

  ask('HEAD has the fields of GET and no body', async (client) => {
    const reply = await client.ask('/json', { method: 'HEAD' })
    assert.equal(reply.status, 200)
    assert.equal(await text(reply), '')
    assert.equal(reply.headers['content-length'], String((await text(await client.ask('/json'))).length))
  })

  ask('100 requests at once, then 100 more by the same connections', async (client, site) => {
    const all = async (): Promise<void> => {
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async () => {
          const reply = await client.ask('/json')
          await text(reply)
          return reply.status
        }),
      )
      assert.deepEqual(new Set(statuses), new Set([200]))
    }
    await all()
    const { connections } = client
    await all()
    assert.equal(client.connections, connections)
    assert.ok(isHttp2 ? connections === 1 : connections <= 8, `${connections} connections`)
    assert.equal(site.answered, 200)
  })

  ask('error statuses have their bodies, and the connection goes on', async (client) => {
    for (const status of [400, 401, 404, 409, 422, 500, 503]) {
      const reply = await client.ask(`/status/${status}`)
      assert.equal(reply.status, status)
      assert.equal(JSON.parse(await text(reply)).status, status)
    }
    const missing = await client.ask('/nothing')
    assert.equal(missing.status, 404)
    await text(missing)
    const wrong = await client.ask('/json', { method: 'DELETE' })
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers['allow'], 'GET, HEAD, OPTIONS')
    await text(wrong)
    // A pool may open a second connection before it learns that the first is free.
    assert.ok(client.connections <= (isHttp2 ? 1 : 2), `${client.connections} connections`)
  })

  ask('a body past the limit is 413', async (client) => {
    const reply = await client.ask('/small', { method: 'POST', body: Buffer.alloc(101) })
    assert.equal(reply.status, 413)
    await text(reply)
    const next = await client.ask('/small', { method: 'POST', body: Buffer.alloc(100) })
    assert.deepEqual(JSON.parse(await text(next)), { bytes: 100 })
  })

  ask('a request that is given up aborts ctx.signal, and others go on', async (client, site) => {
    const cancel = new AbortController()
    const given = client.ask('/hang/1', { signal: cancel.signal })
    const failed = assert.rejects(given)
    await eventually(() => site.waiting.includes('1'), 'the handler runs')
    cancel.abort()
    await failed
    await eventually(() => site.left.includes('1'), 'ctx.signal is aborted')
    assert.equal((await client.ask('/json')).status, 200)
    if (isHttp2 && !kind.name.startsWith('undici')) assert.equal(client.connections, 1)
  })
}

async function text(reply: Reply): Promise<string> {
  return (await buffer(reply.body)).toString()
}
