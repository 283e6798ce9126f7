// Writes stories.json: field blocks of connections as nghttp2 (the one in Node.js) and the Python package hpack 4.2 write them.
// Run: PYTHON_HPACK=python3 node crates/h2/cases/stories.mjs
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, sensitiveHeaders } from 'node:http2'
import { createServer } from 'node:net'

let state = 20_260_817
const random = (bound) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * bound)
}
const one = (list) => list[random(list.length)]
const hex = (length) => Array.from({ length }, () => random(16).toString(16)).join('')

const agents = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:151.0) Gecko/20100101 Firefox/151.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
  'curl/8.18.0',
]
const host = 'shop.example.com'

/** Requests of a browser: pages, then their parts. */
function browser() {
  const agent = one(agents)
  const session = hex(40)
  return Array.from({ length: 12 }, () => [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', host],
    [
      ':path',
      one(['/', '/index.html', `/img/${hex(6)}.webp`, '/style.css?v=3', `/search?q=%22${hex(4)}%22`]),
    ],
    ['user-agent', agent],
    ['accept', one(['*/*', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 'image/avif,image/webp,*/*'])],
    ['accept-encoding', 'gzip, deflate, br, zstd'],
    ['accept-language', 'de-CH,de;q=0.9,en;q=0.7'],
    ['referer', `https://${host}/${one(['', 'cart', `item/${random(100)}`])}`],
    ['cookie', `session=${session}; seen=${random(5)}`],
  ])
}

/** Requests of a program, with values that repeat little. */
function program() {
  return Array.from({ length: 12 }, (_, index) => [
    [':method', one(['GET', 'POST', 'PUT', 'DELETE'])],
    [':scheme', 'http'],
    [':authority', 'api.internal:8443'],
    [':path', `/v1/users/${random(10_000)}`],
    ['authorization', `Bearer ${hex(32)}.~+/`],
    ['x-request-id', `${hex(8)}-${hex(4)}-${hex(12)}`],
    ['traceparent', `00-${hex(32)}-${hex(16)}-01`],
    ['x-empty', ''],
    // This value is once longer than the table.
    [
      'x-note',
      index === 6 ? `{"#":"${hex(9).repeat(500)}"}` : '`<|> [^\\] ~ {@}` äöü €'.slice(0, 4 + random(20)),
    ],
  ])
}

/** @param {[number, number[]][]} sizes Block numbers, each with the table sizes set before that block, in order. */
async function nghttp2(lists, sizes) {
  const wires = []
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${server.address().port}`, { settings: { enablePush: false } })
  const [socket] = await once(server, 'connection')
  const waiting = []
  let input = Buffer.alloc(0)
  let block = []
  let hasPreface = false
  socket.on('data', (bytes) => {
    input = Buffer.concat([input, bytes])
    if (!hasPreface) {
      if (input.length < 24) return
      input = input.subarray(24)
      hasPreface = true
    }
    while (input.length >= 9 && input.length >= 9 + input.readUIntBE(0, 3)) {
      const length = input.readUIntBE(0, 3)
      const [type, flags] = [input[3], input[4]]
      const payload = input.subarray(9, 9 + length)
      input = input.subarray(9 + length)
      const isSettingsAck = type === 4 && flags === 1
      // These are HEADERS, possibly with a priority, and CONTINUATION.
      if (type === 1 || type === 9) block.push(payload.subarray(type === 1 && flags & 0x20 ? 5 : 0))
      const isWhole = (type === 1 || type === 9) && flags & 4
      if (isWhole) {
        wires.push(Buffer.concat(block).toString('hex'))
        block = []
      }
      if (isWhole || isSettingsAck) waiting.shift()?.()
    }
  })
  const next = () => new Promise((resolve) => waiting.push(resolve))
  const settings = (size) => {
    const frame = Buffer.from('000006040000000000000100000000', 'hex')
    frame.writeUInt32BE(size, 11)
    const answered = next()
    socket.write(frame)
    return answered
  }
  await settings(4_096)
  for (const [index, list] of lists.entries()) {
    for (const [at, these] of sizes) if (at === index) for (const size of these) await settings(size)
    const headers = Object.fromEntries(list)
    headers[sensitiveHeaders] = ['authorization']
    const sent = next()
    client.request(headers, { endStream: true }).on('error', () => {})
    await sent
  }
  client.on('error', () => {})
  socket.destroy()
  client.destroy()
  server.close()
  return wires
}

function hpack(lists, sizes, huffman) {
  const blocks = lists.map((fields, index) => ({
    fields,
    sizes: sizes.find(([at]) => at === index)?.[1] ?? [],
  }))
  const script = new URL('encode.py', import.meta.url).pathname
  const input = JSON.stringify({ huffman, blocks })
  const { status, stdout, stderr } = spawnSync(process.env.PYTHON_HPACK ?? 'python3', [script], { input })
  if (status !== 0) throw new Error(`encode.py failed: ${stderr}`)
  return JSON.parse(stdout)
}

const changes = [
  [],
  [[0, [256]]],
  [
    [2, [0]],
    [4, [128, 4_096]],
    [8, [100]],
  ],
]
const stories = []
for (const make of [browser, program]) {
  for (const sizes of changes) {
    // nghttp2 gets text as Latin-1 where that is possible.
    const lists = make().map((list) => list.map(([name, value]) => [name, value.replace(/[^ -~]/g, '?')]))
    stories.push({
      encoder: `nghttp2 ${process.versions.nghttp2}`,
      lists,
      wires: await nghttp2(lists, sizes),
    })
    for (const huffman of [true, false]) {
      const fields = make()
      const encoder = `hpack 4.2 ${huffman ? 'with' : 'without'} Huffman codes`
      stories.push({ encoder, lists: fields, wires: hpack(fields, sizes, huffman) })
    }
  }
}
const lines = stories.flatMap(({ encoder, lists, wires }) => {
  if (lists.length !== wires.length) throw new Error(`${encoder}: ${wires.length} blocks`)
  const blocks = lists.map((fields, index) => `    ${JSON.stringify({ wire: wires[index], fields })}`)
  return `  {"encoder": ${JSON.stringify(encoder)}, "blocks": [\n${blocks.join(',\n')}\n  ]}`
})
writeFileSync(new URL('stories.json', import.meta.url), `[\n${lines.join(',\n')}\n]\n`)
