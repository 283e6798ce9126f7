/** Tests a server with a page in headless Chromium, which chooses HTTP/2 by ALPN. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromiumOptions, eventually, withoutChromium } from '@volant/test-kit'
import { type Browser, chromium, type Page } from 'playwright-core'
import { body, onEach, type Place, type Site } from '../src/site.ts'

/** The time limit of a step, in ms. Only a hang takes so long, even on a busy machine. */
const patience = 60_000

declare global {
  interface Window {
    seen: string[]
    loaded: number
  }
}

const resources = 60

onEach('Chromium', withoutChromium, (place) => {
  let browser: Promise<Browser> | undefined
  after(async () => (await browser)?.close())

  const visit = (name: string, run: (page: Page, site: Site) => Promise<void>): void => {
    test(name, { skip: place.lacks('h2'), timeout: 6 * patience }, () =>
      place.serve(
        'h2',
        async (site) => {
          browser ??= launch(place)
          const context = await (await browser).newContext()
          context.setDefaultTimeout(patience)
          try {
            const page = await context.newPage()
            const thrown: Error[] = []
            page.on('pageerror', (error) => thrown.push(error))
            await page.goto(site.url)
            await run(page, site)
            if (thrown.length > 0) throw new AggregateError(thrown, 'the page threw')
          } finally {
            await context.close()
          }
        },
        addPages,
      ),
    )
  }

  visit('a page loads many resources by one connection of HTTP/2', async (page, site) => {
    await page.goto(`${site.url}/resources`)
    await page.waitForFunction((count) => window.loaded === count, resources)
    const entries = await page.evaluate(() =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(
        (entry) => {
          const { nextHopProtocol, connectStart, connectEnd, name } = entry as PerformanceResourceTiming
          return { nextHopProtocol, connected: connectEnd > connectStart, name }
        },
      ),
    )
    const own = entries.filter(({ name }) => !name.endsWith('/favicon.ico'))
    assert.equal(own.length, resources + 1)
    assert.deepEqual(new Set(own.map(({ nextHopProtocol }) => nextHopProtocol)), new Set(['h2']))
    assert.deepEqual(
      own.filter(({ connected }) => connected),
      [],
    )
    assert.equal(site.app.stats().connections, 1)
  })

  visit(
    'more event streams than HTTP/1.1 has connections for, and requests beside them',
    async (page, site) => {
      const streams = 12
      await page.evaluate((count) => {
        window.seen = []
        for (let at = 0; at < count; at++) {
          const source = new EventSource(`/events/${at}`)
          source.addEventListener('message', ({ data }) => window.seen.push(data))
        }
      }, streams)
      await page.waitForFunction((count) => window.seen.length === count, streams)
      const seen = await page.evaluate(async () => {
        const reply = await fetch('/json')
        return { seen: window.seen, json: await reply.json() }
      })
      assert.deepEqual(seen.seen.sort(), Array.from({ length: streams }, (_, at) => `event ${at}`).sort())
      assert.deepEqual(seen.json, { httpVersion: '2', protocol: 'https', host: new URL(site.url).host })
      assert.equal(site.app.stats().connections, 1)
    },
  )

  visit('an upload comes back, whole and as a stream', async (page) => {
    // Chromium streams request bodies only over HTTP/2.
    const sizes = await page.evaluate(async (bytes) => {
      const sent = new Uint8Array(bytes).map((_, at) => at % 251)
      const equal = (back: ArrayBuffer): boolean =>
        back.byteLength === bytes && new Uint8Array(back).every((byte, at) => byte === at % 251)
      const whole = await fetch('/echo', { method: 'POST', body: sent })
      const parts = new ReadableStream<Uint8Array>({
        async start(controller) {
          for (let at = 0; at < bytes; at += 65_536) {
            controller.enqueue(sent.slice(at, at + 65_536))
            await new Promise((resolve) => setTimeout(resolve))
          }
          controller.close()
        },
      })
      const init = { method: 'POST', body: parts, duplex: 'half' } as RequestInit
      const streamed = await fetch('/echo-stream', init)
      return [equal(await whole.arrayBuffer()), equal(await streamed.arrayBuffer())]
    }, body.length)
    assert.deepEqual(sizes, [true, true])
  })

  visit('a streaming reply arrives part by part', async (page) => {
    const parts = await page.evaluate(async () => {
      const reply = await fetch('/parts/page')
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
      const first = await reader.read()
      await fetch('/parts/page/next')
      const second = await reader.read()
      const text = (part?: Uint8Array): string => new TextDecoder().decode(part)
      return [text(first.value), text(second.value), (await reader.read()).done]
    })
    assert.deepEqual(parts, ['first\n', 'second\n', true])
  })

  visit('100 requests at once, with error statuses among them', async (page, site) => {
    const statuses = await page.evaluate(() =>
      Promise.all(
        Array.from({ length: 100 }, async (_, at) => {
          const reply = await fetch(at % 4 === 0 ? '/status/422' : `/json?${at}`)
          await reply.arrayBuffer()
          return reply.status
        }),
      ),
    )
    assert.equal(statuses.filter((status) => status === 200).length, 75)
    assert.equal(statuses.filter((status) => status === 422).length, 25)
    assert.equal(site.app.stats().connections, 1)
  })

  visit('a fetch that is given up aborts ctx.signal, and the connection goes on', async (page, site) => {
    await page.evaluate(() => {
      const cancel = new AbortController()
      window.seen = []
      fetch('/hang/page', { signal: cancel.signal }).catch((error: Error) => window.seen.push(error.name))
      void fetch('/waits/page').then(() => cancel.abort())
    })
    await eventually(() => site.left.includes('page'), 'ctx.signal is aborted')
    await page.waitForFunction(() => window.seen.length === 1)
    assert.deepEqual(await page.evaluate(() => window.seen), ['AbortError'])
    assert.equal(await page.evaluate(async () => (await fetch('/json')).status), 200)
    assert.equal(site.app.stats().connections, 1)
  })

  /**
   * RFC 8441: on `native` the WebSocket is a stream. node-http does not offer that, so Chromium opens a connection for
   * it.
   */
  visit('a WebSocket opens, and carries messages both ways', async (page, site) => {
    const said = await page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const socket = new WebSocket(`${location.origin.replace('https', 'wss')}/socket`)
          const heard: string[] = []
          socket.addEventListener('message', ({ data }) => {
            heard.push(data)
            if (heard.length === 1) socket.send('hello')
            else resolve(heard)
          })
          socket.addEventListener('error', () => resolve(['an error']))
        }),
    )
    const native = place.adapter === 'native'
    assert.deepEqual(said, [native ? '2' : '1.1', 'hello'])
    assert.equal(site.app.stats().connections, native ? 1 : 2)
  })

  visit('a cookie with the prefix __Host- comes back, since the page is secure', async (page) => {
    const cookie = await page.evaluate(async () => {
      await fetch('/cookie')
      return (await fetch('/cookie')).text()
    })
    assert.equal(cookie, 'baked')
  })
})

function addPages({ app }: Site): void {
  app.get('/', (ctx) => ctx.html('<!doctype html><link rel="icon" href="data:,"><title>x</title>'))
  app.get('/resources', (ctx) => {
    const scripts = Array.from(
      { length: resources },
      (_, at) => `<script src="/script/${at}.js" async></script>`,
    )
    ctx.html(
      `<!doctype html><link rel="icon" href="data:,"><title>x</title><script>window.loaded = 0</script>${scripts.join('')}`,
    )
  })
  app.get('/script/:name', (ctx) => {
    ctx.header('content-type', 'text/javascript')
    return `window.loaded++ // ${'x'.repeat(20_000)}`
  })
  app.get('/events/:id', (ctx) => ctx.sse((stream) => void stream.send(`event ${ctx.params.id}`)))
  app.ws('/socket', {
    upgrade: (ctx) => ({ version: ctx.httpVersion }),
    open: (ws) => void ws.send(ws.data.version),
    message: (ws, data) => void ws.send(data),
  })
  app.get('/cookie', (ctx) => {
    ctx.cookie('__Host-bread', 'baked', { secure: true })
    return ctx.cookies['__Host-bread'] ?? 'none'
  })
}

function launch({ identity }: Place): Promise<Browser> {
  const args = [...chromiumOptions.args, `--ignore-certificate-errors-spki-list=${identity.pin}`]
  return chromium.launch({ ...chromiumOptions, args })
}
