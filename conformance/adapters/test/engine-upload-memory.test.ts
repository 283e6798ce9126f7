/** What a server's memory grows by while 300 MiB are uploaded to its disk. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const mebibyte = 1_048_576
const server = fileURLToPath(new URL('engine/upload-server.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'upload-memory-'))
after(() => rmSync(folder, { recursive: true }))
const skip = process.platform !== 'linux' && 'only Linux tells what memory a process has'

test('an upload of 300 MiB to disk grows the process by less than 20 MB', { skip }, async () => {
  const child = spawn(process.execPath, [server, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const port = Number(line.toString())
    await upload(port, 1, () => {})
    const before = resident(child)
    let most = 0
    const reply = await upload(port, 300, () => (most = Math.max(most, resident(child))))
    assert.match(reply, /^HTTP\/1\.1 200 [^]*\{"size":314572800\}$/)
    assert.ok(most > 0 && most - before < 20_000_000, `it grew by ${most - before} bytes`)
    assert.deepEqual(readdirSync(folder), [])
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})

/** Sends a file of so many MiB in a form; gives the reply. `look` is called after each of them. */
async function upload(port: number, count: number, look: () => void): Promise<string> {
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
  const end = '\r\n--b--\r\n'
  const length = head.length + count * mebibyte + end.length
  const socket = connect(port, '127.0.0.1')
  const reply = once(socket, 'data') as Promise<[Buffer]>
  socket.write(
    `POST /save HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n${head}`,
  )
  const piece = Buffer.alloc(mebibyte, 'x')
  for (let at = 0; at < count; at++) {
    if (!socket.write(piece)) await once(socket, 'drain')
    look()
  }
  socket.write(end)
  const [bytes] = await reply
  socket.destroy()
  return bytes.toString()
}

/** The memory that the process has, in bytes (proc(5), VmRSS). */
function resident({ pid }: ChildProcess): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
