import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorization, problem, serving } from './kit.ts'

const { app, ask, get, host } = serving()

test('GET /badge/:label/:value.svg', async () => {
  const reply = await get('/badge/build%20%26/%3Cb%3E.svg')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
  const svg = await reply.text()
  assert.match(svg, />build &amp;</)
  assert.match(svg, />&lt;b&gt;</)
  assert.equal((await get('/badge/build/passing')).status, 404)
})

test('GET / says what is running and may load nothing but its own style and script', async () => {
  const reply = await get('/')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = reply.headers.get('content-security-policy') ?? ''
  const html = await reply.text()
  for (const [directive, element, type] of [
    ["style-src 'self'", '<link rel="stylesheet" href="/page/style.css">', 'text/css; charset=utf-8'],
    ["script-src 'self'", '<script src="/page/live.js"></script>', 'text/javascript; charset=utf-8'],
  ] as const) {
    assert.ok(policy.includes(directive) && html.includes(element), element)
    const file = await get(/"(\/.+)"/.exec(element)?.[1] as string)
    assert.equal(file.headers.get('content-type'), type)
  }
  assert.ok(policy.startsWith("default-src 'none'") && policy.includes("connect-src 'self'"))
  for (const text of [app.adapterName, process.version, host()]) assert.ok(html.includes(text), text)
  assert.ok(!html.includes('secret'))
  assert.doesNotMatch(html, /<script>|<style|\b(?:style|on\w+)=/)
})

test('GET /live has the figures of now, and loads nothing but its own styles and scripts', async () => {
  const reply = await get('/live')
  assert.ok(reply.headers.get('content-security-policy')?.includes("connect-src 'self'"))
  const html = await reply.text()
  assert.match(html, /<strong id="rss">\d+ MB<\/strong>/)
  assert.match(html, /<noscript><meta http-equiv="refresh" content="5"><\/noscript>/)
  assert.doesNotMatch(html, /<script>|<style|\b(?:style|on\w+)=/)
  for (const path of ['/page/style.css', '/page/dashboard.css', '/page/feed.js', '/page/dashboard.js']) {
    assert.ok(html.includes(`"${path}"`), path)
    assert.equal((await get(path)).status, 200, path)
  }
})

test('GET /live/events has the figures of each second, and those that a page has missed', async () => {
  const read = async (count: number, headers: Record<string, string> = {}) => {
    const client = new AbortController()
    const reply = await ask('/live/events', { headers, signal: client.signal })
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    let text = ''
    for await (const part of reply.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString()
      if (text.split('event: figures').length > count && text.endsWith('\n\n')) break
    }
    client.abort()
    return [...text.matchAll(/id: (\d+)\nevent: figures\ndata: (.+)\n/g)].map(([, id, data]) => ({
      id: Number(id),
      data: JSON.parse(data as string) as { rate: number | null; streams: number; memory: { rss: number } },
    }))
  }
  const stays = await ask('/live/events')
  const [first, second] = await read(2)
  assert.ok(first !== undefined && second !== undefined && second.id > first.id)
  assert.ok(second.data.rate !== null && second.data.streams >= 1 && second.data.memory.rss > 2 ** 20)
  // A page that comes back gets the seconds after its last event, while somebody else has looked on.
  const [missed] = await read(1, { 'last-event-id': String(first.id) })
  assert.equal(missed?.id, second.id)
  await stays.body?.cancel()
})

test('what is large is compressed for those who accept it', async () => {
  const identity = await get('/big-json', { 'accept-encoding': 'identity' })
  assert.equal(identity.headers.get('content-encoding'), null)
  const gzip = await get('/big-json', { 'accept-encoding': 'gzip' })
  assert.equal(gzip.headers.get('content-encoding'), 'gzip')
  assert.ok(Number(gzip.headers.get('content-length')) < Number(identity.headers.get('content-length')) / 5)
  assert.deepEqual(await gzip.json(), await identity.json())
})

test('every link and every button of the page leads to a reply', async () => {
  const html = await (await get('/')).text()
  const links = [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path as string)
  assert.ok(links.length >= 10)
  for (const path of links) assert.equal((await get(path)).status, 200, path)
  const buttons = [
    ...html.matchAll(/<button [^>]*data-method="(\w+)" data-path="([^"]*)"( data-secured)?[^>]*>/g),
  ]
  const routes = app.routes().filter(({ hidden }) => hidden !== true)
  assert.equal(buttons.length, routes.length)
  for (const [, method = '', path = '', secured] of buttons) {
    const reply = await ask(path, { method, headers: secured ? { authorization } : {} })
    assert.equal(reply.status, method === 'POST' ? 400 : 200, path)
  }
})

test('a host that is no host does not reach the page', async () => {
  const reply = await app.inject({ url: '/', headers: { host: 'a"><script>alert(1)</script>' } })
  assert.ok(!reply.body.toString().includes('<script>alert'))
})

test('unknown paths and methods', async () => {
  await problem(await get('/nowhere'), 404)
  const reply = await ask('/json', { method: 'DELETE' })
  await problem(reply, 405)
  assert.match(reply.headers.get('allow') ?? '', /GET/)
})
