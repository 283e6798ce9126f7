/** Where the server of a client is, and the table of routes that the client fetches there. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contract, type Route } from 'volant'
import { createClient } from 'volant/client'
import { kit, serverOf } from './kit.ts'

describe('client', () => {
  test('an address that cannot be one is refused at once', async () => {
    const refuse = (urls: unknown[]): void => {
      for (const url of urls) {
        const error = {
          name: 'TypeError',
          message: `the API's address is like https://host/path, not "${String(url)}"`,
        }
        assert.throws(() => createClient(url as string), error)
        assert.throws(() => createClient({ x: contract.get('/x') }, url as string), error)
      }
    }
    const never = ['localhost:3000', 'ftp://a.test', 'http://', 'http://a.test?b=c', '/a#b', 'mailto:a@b']
    refuse([...never, undefined, null])
    for (const url of [
      'http://a.test',
      'HTTPS://a.test:1/b/',
      'http://[::1]:3000',
      new URL('http://a.test'),
      // For pages; nothing else can call these.
      '',
      '/',
      '/api',
      'api/v1',
      '//a.test',
      '/a:b',
    ])
      assert.equal(typeof createClient(url), 'function')
    const nowhere = createClient<{ x: Route<'GET', '/x'> }>('/api')
    await assert.rejects(nowhere.x(), /\/api\/client\.json/)
  })

  test('the table is fetched once, and again after it could not be', async () => {
    const { app, api } = serverOf()
    const asked: string[] = []
    let broken: Response | null = new Response('<html>', { headers: { 'content-type': 'text/html' } })
    const fetch = async (request: Request): Promise<Response> => {
      asked.push(new URL(request.url).pathname)
      const reply = broken
      broken = null
      return reply ?? app.fetch(request)
    }
    const client = createClient<typeof api>('http://server.test', { fetch })
    await assert.rejects(client.mounted(), {
      name: 'ClientError',
      message:
        /^mounted: http:\/\/server\.test\/client\.json: the reply 200 is text\/html, not application\/json/,
    })
    assert.deepEqual(asked.splice(0), ['/client.json'])
    await Promise.all([client.mounted(), client.mounted(), client.users.add({ body: { name: 'a' } })])
    await client.mounted()
    assert.deepEqual(asked.splice(0).sort(), [
      '/client.json',
      '/inside/deep',
      '/inside/deep',
      '/inside/deep',
      '/users',
    ])
    for (const table of [
      'null',
      '[1]',
      '{"a":1}',
      '{"mounted":["GET","//evil.test/"]}',
      String.raw`{"mounted":["GET","/\\evil.test/"]}`,
      '{"mounted":["GET"]}',
      '[]',
      '{"mounted":["GET",["/deep"]]}',
      '{"mounted":["GET /x","/deep"]}',
      '{"mounted":["GET","/deep","abc"]}',
      '{"mounted":["GET","/deep",null]}',
      '{"mounted":["GET","/deep",[null]]}',
      '{"mounted":["GET","/deep",[200],5]}',
    ]) {
      broken = new Response(table, { headers: { 'content-type': 'application/json' } })
      const again = createClient<typeof api>('http://server.test', { fetch })
      await assert.rejects(again.mounted(), { name: 'ClientError' }, table)
      assert.equal((await again.mounted()).data, 'none')
    }
    let cancelled = false
    broken = new Response(new ReadableStream({ cancel: () => void (cancelled = true) }))
    const again = createClient<typeof api>('http://server.test', { fetch })
    await assert.rejects(again.mounted(), { name: 'ClientError', message: /the reply 200 is of no type/ })
    assert.equal(cancelled, true)
    assert.equal((await again.mounted()).data, 'none')
    const other = kit.app()
    const api2 = { pong: other.get('/pong', () => 'pong') }
    other.expose(api2, { path: '/api/routes.json' })
    const moved = createClient<typeof api2>('http://server.test', {
      fetch: other.fetch,
      routes: '/api/routes.json',
    })
    assert.equal((await moved.pong()).data, 'pong')
  })
})
