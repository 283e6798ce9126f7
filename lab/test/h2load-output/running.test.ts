/** h2load is called, and its connections are counted. */
import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { runH2load } from '../../src/generators/h2load.ts'
import { liveConnections } from '../../src/live-connections.ts'
import { scenarioOf, variantOf } from '../../src/scenario.ts'
import { h2 } from './reports.ts'

const folder = mkdtempSync(join(tmpdir(), 'h2load-'))
const path = process.env['PATH']
after(() => {
  process.env['PATH'] = path
  rmSync(folder, { recursive: true })
})

const { measure } = variantOf(scenarioOf('http2-json'), 'TLS, 100 streams')

const job = {
  load: { ...measure.load, connections: 0, pipelining: 10, warmup: 0 },
  port: 3000,
  seconds: 0.5,
  core: null,
}

const skip = existsSync('/bin/sh') && process.platform === 'linux' ? false : 'needs a shell and /proc'

test('it is called with the streams and the times of the variant, and followed', { skip }, async () => {
  install(h2, 0.5)
  const marks: string[] = []
  const result = await runH2load(
    { ...job, onWarm: () => void marks.push('warm'), onMeasured: () => void marks.push('measured') },
    'h2',
  )
  assert.deepEqual(marks, ['warm', 'measured'])
  assert.deepEqual([result.requests, result.errors, result.non2xx], [31_900, 0, 0])
  assert.deepEqual([result.seconds, result.bytesReceived], [0.5, 1_722_715])
  assert.equal(result.fault, null)
  assert.match(
    readFileSync(join(folder, 'arguments'), 'utf8'),
    /^--clients 0 --max-concurrent-streams 10 --warm-up-time 100ms --duration 500ms .*--tls13-ciphers=TLS_AES_256_GCM_SHA384 --groups=P-256 https:\/\/127\.0\.0\.1:3000\/hello\.json$/m,
  )
})

test('connections that are not there when the window begins are a fault', { skip }, async () => {
  const load = { ...job.load, connections: 5 }
  let fault: string | null = null
  // On a busy machine the lines are read late, which matters less in a longer window; connections are not judged then.
  for (let seconds = 1; seconds <= 16 && fault === null; seconds *= 2) {
    install(h2, seconds)
    ;({ fault } = await runH2load({ ...job, seconds, load }, 'h2'))
  }
  assert.equal(fault, '0 of 5 connections were open in the window')
})

test('open connections to a port are counted, closed ones are not', { skip }, async () => {
  const accepted: Socket[] = []
  const server = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  try {
    await Promise.all(clients.map((client) => once(client, 'connect')))
    assert.equal(liveConnections(process.pid, port), 3)
    while (accepted.length < 3) await once(server, 'connection')
    const [first] = accepted as [Socket]
    const gone = clients.find(({ localPort }) => localPort === first.remotePort) as Socket
    first.destroy()
    await once(gone.resume(), 'close')
    assert.equal(liveConnections(process.pid, port), 2)
    assert.equal(liveConnections(process.pid, port === 1 ? 2 : 1), 0)
  } finally {
    for (const client of clients) client.destroy()
    server.close()
  }
})

/** Installs a program of that name that prints the captured lines, with this pause for the window. */
function install(output: string, seconds: number): void {
  const [before, rest] = output.split(/(?<=is started for thread #0\.\n)/) as [string, string]
  writeFileSync(join(folder, 'before'), before)
  writeFileSync(join(folder, 'rest'), rest)
  const script = `#!/bin/sh\necho "$@" > ${folder}/arguments\ncat ${folder}/before\nsleep ${seconds}\ncat ${folder}/rest\n`
  writeFileSync(join(folder, 'h2load'), script)
  chmodSync(join(folder, 'h2load'), 0o755)
  process.env['PATH'] = [folder, path].join(delimiter)
}
