import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { eventually } from '@volant/test-kit'
import { type AdapterType, type App, createApp, etag } from 'volant'
import { compress } from './compress.ts'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** `fetch` decodes what it gets and adds fields of its own. */
async function ask(address: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const [reply] = (await once(request(address, { method, headers, agent: false }).end(), 'response')) as [
    IncomingMessage,
  ]
  const parts: Buffer[] = []
  for await (const part of reply) parts.push(part as Buffer)
  return { status: reply.statusCode as number, headers: reply.headers, bytes: Buffer.concat(parts) }
}

const gzip = { 'accept-encoding': 'gzip, br' }

test('text is compressed for who accepts it, and its tag is weak', async () => {
  const plain = await ask(`${url}/prices`)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.equal(plain.headers.vary, 'accept-encoding')
  const strong = plain.headers.etag as string
  assert.match(strong, /^"/)

  const small = await ask(`${url}/prices`, gzip)
  assert.equal(small.headers['content-encoding'], 'gzip')
  assert.equal(small.headers.vary, 'accept-encoding')
  assert.equal(small.headers.etag, `W/${strong}`)
  assert.ok(small.bytes.length * 3 < plain.bytes.length)
  assert.deepEqual(gunzipSync(small.bytes), plain.bytes)

  for (const tag of [strong, `W/${strong}`]) {
    const same = await ask(`${url}/prices`, { ...gzip, 'if-none-match': tag })
    assert.deepEqual([same.status, same.headers.etag, same.bytes.length], [304, tag, 0])
    assert.deepEqual([same.headers.vary, same.headers['content-encoding']], ['accept-encoding', undefined])
  }
})

test('short replies and HEAD are as they were', async () => {
  for (const [path, method] of [
    ['/short', 'GET'],
    ['/prices', 'HEAD'],
  ] as const) {
    const { status, headers } = await ask(url + path, gzip, method)
    assert.deepEqual([status, headers['content-encoding'], headers.vary], [200, undefined, 'accept-encoding'])
  }
})

for (const type of ['native', 'node-http'] satisfies AdapterType[]) {
  describe(`the hook on ${type}`, () => {
    const make = (): App => {
      const made = createApp({ adapter: { type }, signals: false })
      made.onSend(compress)
      made.use(etag())
      return made
    }

    test('a stream arrives part by part, and its source is cancelled with it', async () => {
      const served = make()
      let go = (): void => {}
      let ended = false
      served.get('/parts', async function* (ctx) {
        ctx.header('content-type', 'text/plain; charset=utf-8')
        try {
          for (let part = 0; ; part++) {
            yield `part ${part}\n`
            await new Promise<void>((resolve) => (go = resolve))
          }
        } finally {
          ended = true
        }
      })
      const at = await served.listen({ port: 0 })
      const client = new AbortController()
      const reply = await fetch(`${at.url}/parts`, { signal: client.signal })
      assert.equal(reply.headers.get('content-encoding'), 'gzip')
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
      assert.equal((await reader.read()).value, 'part 0\n')
      go()
      assert.equal((await reader.read()).value, 'part 1\n')
      client.abort()
      await eventually(() => {
        go()
        return ended
      }, 'the source is cancelled')
      await served.close({ drainIdle: 0 })
    })

    test('a source that fails cuts the reply off, and is reported', async () => {
      const reports: unknown[] = []
      const served = createApp({ adapter: { type }, signals: false, report: (error) => reports.push(error) })
      served.onSend(compress)
      served.get('/fails', (ctx) => {
        async function* parts(): AsyncGenerator<string> {
          yield 'a part\n'
          throw new Error('the disk is gone')
        }
        return ctx.stream(parts(), { type: 'text/plain' })
      })
      const at = await served.listen({ port: 0 })
      await assert.rejects(fetch(`${at.url}/fails`).then((reply) => reply.text()))
      assert.equal((reports[0] as Error).message, 'the disk is gone')
      await served.close({ drainIdle: 0 })
    })

    test('other types, other codings, parts and empty replies are left alone', async () => {
      const long = 'x'.repeat(5_000)
      const served = make()
      served.get('/bytes', () => Buffer.from(long))
      served.get('/done', (ctx) => ctx.header('content-encoding', 'br').text(long))
      served.get('/part', (ctx) => ctx.header('content-range', 'bytes 0-4999/9000').text(long, 206))
      served.get('/none', (ctx) => ctx.reply(204))
      served.get('/same', (ctx) => ctx.text(long, 304))
      served.get('/large', (ctx) => ctx.text(long))
      const at = await served.listen({ port: 0 })
      for (const [path, coding] of [
        ['/bytes', undefined],
        ['/done', 'br'],
        ['/part', undefined],
        ['/none', undefined],
        ['/same', undefined],
        ['/large', 'gzip'],
      ] as const) {
        assert.equal((await ask(at.url + path, gzip)).headers['content-encoding'], coding, path)
      }
      await served.close({ drainIdle: 0 })
    })
  })
}
