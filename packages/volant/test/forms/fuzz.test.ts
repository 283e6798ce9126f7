/**
 * Forms that were changed at random: whatever the bytes and the cuts, the parser gives the same tokens or the same
 * refusal, and a handler an answer. `SEED` repeats a run, `ROUNDS` makes it longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '@volant/test-kit'
import { Busboy } from '@fastify/busboy'
import { createApp, HTTPError } from 'volant'
import { MultipartParser, Token } from '../../src/forms/multipart.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const rounds = Number(process.env['ROUNDS'] ?? (process.env['TEST_ALL'] === undefined ? 1_500 : 6_000))
const limits = { maxFormParts: 10, maxFormFiles: 5, maxFileSize: 2_000, maxFieldSize: 500 }

const random = new Random(seed)
const oneOf = <T>(list: readonly T[]): T => random.pick(list)

const pieces = [
  '\r\n',
  '\r',
  '\n',
  '--',
  '--b',
  '--b--',
  '\r\n--b',
  '\r\n--b\r\n',
  ':',
  ';',
  '"',
  '\\',
  '%22',
  '\0',
  '\xff',
  'x',
]
const heads = [
  'Content-Disposition: form-data; name="a"',
  'Content-Disposition: form-data; name="b"; filename="f.txt"\r\nContent-Type: image/png',
  'Content-Disposition: form-data; name=c; filename="C:\\x\\y"',
  'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name="d%22"',
]

function madeForm(): string {
  const parts = Array.from({ length: random.below(5) }, () => {
    const content =
      Array.from({ length: random.below(6) }, () => oneOf(pieces)).join('') + 'y'.repeat(random.below(600))
    return `--b\r\n${oneOf(heads)}\r\n\r\n${content}\r\n`
  })
  return `${parts.join('')}--b--\r\n`
}

function changed(form: string): Buffer {
  let text = form
  for (let left = random.below(4); left > 0; left--) {
    const at = random.below(text.length + 1)
    const length = random.below(3) === 0 ? random.below(20) : 0
    text = text.slice(0, at) + (random.below(4) === 0 ? '' : oneOf(pieces)) + text.slice(at + length)
  }
  return Buffer.from(text, 'latin1')
}

type Seen = [name: string, filename: string | undefined, content: string][]

/** Gives what the parser makes of the body, or the code of its refusal. */
function parsed(body: Buffer, cut: () => number): Seen | string {
  const parser = new MultipartParser('b', limits)
  const seen: Seen = []
  let content = ''
  let isOver = false
  try {
    for (let at = 0; at < body.length;) {
      const end = Math.min(body.length, at + cut())
      // It owns its bytes, and who keeps a view of them sees that they are used again.
      const chunk = Buffer.from(body.subarray(at, end))
      parser.feed(chunk)
      at = end
      for (let token = parser.read(); token !== Token.more; token = parser.read()) {
        assert.ok(!isOver, 'nothing comes after the end')
        if (token === Token.part) content = ''
        else if (token === Token.data) content += parser.data.toString('latin1')
        else if (token === Token.partEnd) seen.push([parser.head?.name ?? '', parser.head?.filename, content])
        else isOver = true
      }
      chunk.fill(0)
    }
  } catch (error) {
    if (error instanceof HTTPError && error.status < 500) return String(error.code)
    throw error
  }
  return isOver ? seen : 'E_BODY_MALFORMED'
}

test(`forms that were changed at random, with SEED=${seed}`, async () => {
  const app = createApp({ signals: false, limits })
  app.post('/form', { bodyMode: 'stream' }, async (ctx) => Object.keys(await ctx.form()).length)
  app.post('/parts', { bodyMode: 'stream' }, async (ctx) => {
    let length = 0
    for await (const part of ctx.parts()) {
      if (part.name === 'a') length += (await part.bytes()).length
      else if (part.name === 'b') for await (const chunk of part) length += chunk.length
    }
    return length
  })
  const seen = { good: 0, bad: 0 }
  for (let round = 0; round < rounds; round++) {
    const body = changed(madeForm())
    const whole = parsed(body, () => body.length)
    assert.deepEqual(
      parsed(body, () => 1),
      whole,
      'byte by byte',
    )
    assert.deepEqual(
      parsed(body, () => 1 + random.below(40)),
      whole,
      'at random',
    )
    if (typeof whole === 'string') seen.bad++
    else seen.good++
    const chunks: Buffer[] = []
    for (let at = 0, end = 0; at < body.length; at = end) {
      end = at + 1 + random.below(200)
      chunks.push(body.subarray(at, end))
    }
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    for (const url of ['/form', '/parts']) {
      const { status } = await app.inject({ method: 'POST', url, headers, body: chunks.values() })
      // The form of text may have a field that is not UTF-8.
      if (typeof whole === 'string') assert.ok([400, 413, 415].includes(status), String(status))
      else assert.ok(status === 200 || (url === '/form' && [400, 415].includes(status)), String(status))
    }
  }
  assert.ok(seen.good > rounds / 10 && seen.bad > rounds / 10, JSON.stringify(seen))
})

test(`what busboy reads of a whole form is what we read of it, with SEED=${seed}`, async () => {
  for (let round = 0; round < rounds / 5; round++) {
    // Busboy decodes fields by their charset.
    const body = Buffer.from(madeForm().replaceAll('\xff', 'z'))
    const ours = parsed(body, () => 1 + random.below(100))
    // Of a file without content busboy may say nothing.
    if (typeof ours === 'string' || ours.some(([, , content]) => content === '')) continue
    const files = ours.map(([name, filename, content]) => [name.replace('"', '%22'), filename, content])
    assert.deepEqual(await byBusboy(body), files)
  }
})

function byBusboy(body: Buffer): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const parser = new Busboy({
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      defCharset: 'latin1',
    })
    const seen: [string, string | undefined, string][] = []
    parser.on('file', (name, file, filename) => {
      const row: [string, string | undefined, string] = [name, filename, '']
      seen.push(row)
      file.setEncoding('latin1').on('data', (text: string) => (row[2] += text))
    })
    parser.on('field', (name, value) => seen.push([name, undefined, value]))
    parser.on('error', reject)
    parser.on('finish', () => resolve(seen))
    parser.end(body)
  })
}
