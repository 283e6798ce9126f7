import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'

process.env.PORT = '0'
const { app, streams, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

async function open(headers: Record<string, string> = {}) {
  const client = new AbortController()
  const reply = await fetch(`${url}/events`, { headers, signal: client.signal })
  const reader = reply.body!.getReader()
  let text = ''
  return {
    reply,
    leave: () => client.abort(),
    /** Reads until `part` has come; gives all that has. */
    async until(part: string) {
      while (!text.includes(part)) {
        const { done, value } = await reader.read()
        if (done) break
        text += Buffer.from(value).toString()
      }
      return text
    },
  }
}

const say = (text: string) => fetch(`${url}/messages`, { method: 'POST', body: text })

test('a message reaches every page, and one that was away gets what it missed', async () => {
  const [ada, bob] = [await open(), await open()]
  assert.equal(ada.reply.headers.get('content-type'), 'text/event-stream')
  await say('hello')
  for (const page of [ada, bob]) {
    assert.equal(await page.until('hello"}\n\n'), ':\n\nid: 1\nevent: message\ndata: {"text":"hello"}\n\n')
  }
  bob.leave()
  await eventually(() => streams.size === 1, 'one page')
  await say('are you\nthere?')
  const again = await open({ 'last-event-id': '1' })
  assert.equal(
    await again.until('there?"}\n\n'),
    ':\n\nid: 2\nevent: message\ndata: {"text":"are you\\nthere?"}\n\n',
  )
})

test('a countdown ends, and 204 says that it is over', async () => {
  const reply = await fetch(`${url}/countdown/2`)
  assert.equal(await reply.text(), 'retry: 1000\n\nid: 2\ndata: 2\n\nid: 1\ndata: 1\n\nid: 0\ndata: 0\n\n')
  assert.equal((await fetch(`${url}/countdown/2`, { headers: { 'last-event-id': '0' } })).status, 204)
})

test('the page is served, and open streams end with the app', async () => {
  assert.match(await (await fetch(url)).text(), /new EventSource\('\/events'\)/)
  const page = await open()
  await app.close({ drainIdle: 0 })
  assert.match(await page.until('never'), /retry: \d+\n\n$/)
  assert.equal(streams.size, 0)
})
