/** Streamed bodies in the native engine: windows, and callbacks that throw. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { Kit } from '../src/kit.ts'
import { exchangeOf, skip } from './engine/native.ts'

const kit = new Kit('native')

test('a window beyond 2 GiB lets the body in', { skip }, async () => {
  const app = kit.app()
  app.post('/', { bodyMode: 'stream' }, async (ctx) => {
    const received = await new Promise<string>((resolve, reject) => {
      let text = ''
      const chunk = (bytes: Buffer) => void (text += bytes.toString())
      exchangeOf(ctx).readBody({ chunk, end: () => resolve(text), fail: reject }, 2 ** 32)
      exchangeOf(ctx).credit(2 ** 33)
    })
    return received
  })
  await kit.serve(app, async (live) => {
    assert.equal((await live.post('/', null, 'let in')).text, 'let in')
  })
})

/** A server whose sink throws while another client's request is in the same slice. */
const throwing = `
import { createApp } from 'volant'
import { connect } from 'node:net'
import { once } from 'node:events'
let uncaught = 0
process.on('uncaughtException', () => uncaught++)
const app = createApp({ adapter: { type: 'native' }, signals: false })
let begun
const read = new Promise((resolve) => { begun = resolve })
app.post('/', { bodyMode: 'stream' }, (ctx) => {
  const chunk = () => { throw new Error('from a sink') }
  ctx.exchange.readBody({ chunk, end() {}, fail() {} }, 1000)
  setImmediate(begun)
  return new Promise(() => {})
})
app.get('/', () => 'served')
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
const [upload, other] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
await Promise.all([once(upload, 'connect'), once(other, 'connect')])
upload.write('POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 9\\r\\n\\r\\n')
await read
upload.write('123')
other.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
const [reply] = await Promise.race([once(other, 'data'), new Promise((resolve) => setTimeout(resolve, 30_000, ['none']))])
console.log(String(reply).includes('served'), uncaught)
process.exit()
`

test('what a callback throws is uncaught, and costs no other request', { skip }, () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', throwing], { encoding: 'utf8' })
  assert.equal(output, 'true 1\n')
})
