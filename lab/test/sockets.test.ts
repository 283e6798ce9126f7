import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { conformance } from '../src/conformance.ts'
import { socketsPath } from '../src/folders.ts'
import { runSockets } from '../src/generators/sockets.ts'
import { measure } from '../src/measures/index.ts'
import { scenarioOf, variantOf } from '../src/scenario.ts'
import { load } from '../src/scenarios/load.ts'
import { startServer } from '../src/server.ts'
import { assignment, entryRunning, measured, skip as nothing, undisturbed } from './broken-entry.ts'

const skip =
  nothing ||
  (existsSync(socketsPath) ? false : 'the generator of sockets is not built (npm run lab builds it)')
const echo = 'ws-echo:128 B on 10 sockets'
const publish = 'ws-publish:100 subscribers'

/** What a server that cheats is caught at: under load, and by what is said of it. */
const underLoad: readonly (readonly [cheat: string, scenario: string, said: RegExp])[] = [
  ['wrong byte', echo, /messages with other bytes; the first: a message has other bytes than/],
  ['shorter', echo, /messages of another length; the first: a message of 127 bytes came, not 128/],
  ['another type', echo, /messages of the other type; the first: a message of opcode 2 came, not 1/],
  ['masked', echo, /masked frames/],
  ['compressed', echo, /malformed frames; .*a reserved bit is set/],
  ['an older one', echo, /another message came back than the one that was sent/],
  ['twice', echo, /messages that nobody sent, or once more|another message came back/],
  ['closed', echo, /sockets closed by the server; the first: the server closed a socket with 1001/],
  ['reset', echo, /sockets closed by the server/],
  ['not handled', echo, /its handlers ran \d+ times for \d+ replies: it answers without them/],
  ['to itself', publish, /messages that came back to their publisher/],
  ['once more', publish, /messages that nobody sent, or once more/],
]

describe('servers that cheat under load are disqualified', { skip }, () => {
  for (const [cheat, scenario, said] of underLoad) {
    test(cheat, async () => {
      // The generator ends with the first thing that is wrong. Replies without handlers are counted behind the window.
      const window = cheat === 'not handled' ? 3 : 30
      const finding = await measured(entryRunning('sockets', { CHEAT: cheat }), scenario, { window })
      assert.equal(finding.status, 'disqualified', finding.reason ?? '')
      assert.match(finding.reason ?? '', said)
      assert.deepEqual(finding.metrics, {})
    })
  }

  for (const [cheat, mode, path, said] of [
    ['dropped', 'echo', '/ws', /messages missing; the first: \d+ messages had not come back after 3 s/],
    [
      'not to all',
      'publish',
      '/room',
      /messages missing; the first: 1 of 10 deliveries were missing after 3 s/,
    ],
  ] as const) {
    test(cheat, async () => {
      const server = await startServer({
        entry: entryRunning('sockets', { CHEAT: cheat }),
        program: 'sockets',
        core: null,
        port: 0,
      })
      try {
        const { fault } = await runSockets({
          load: load([], { connections: 10, warmup: 0 }),
          sockets: { mode, messages: { path, bytes: 128, type: 'text' } },
          port: server.port,
          seconds: 30,
          timeout: 3,
          core: null,
        })
        assert.match(fault ?? '', said)
      } finally {
        await server.stop()
      }
    })
  }
})

describe('servers that cheat before it are disqualified', { skip }, () => {
  for (const [cheat, said] of [
    ['no router', /a WebSocket is opened on an unknown path: no router runs/],
    ['extension', /it agrees on permessage-deflate/],
    ['wrong key', /\/ws could not be opened: Invalid Sec-WebSocket-Accept header/],
  ] as const) {
    test(cheat, async () => {
      const scenario = scenarioOf('ws-echo')
      const variant = variantOf(scenario, '128 B')
      const fault = await conformance(entryRunning('sockets', { CHEAT: cheat }), scenario, variant, null, 0)
      assert.match(fault ?? '', said)
    })
  }
})

describe('an honest server', { skip }, () => {
  for (const name of [echo, publish, 'ws-idle']) {
    test(`is right in ${name}`, async () => {
      const { scenario, variant } = assignment(entryRunning('sockets'), name)
      assert.equal(await conformance(entryRunning('sockets'), scenario, variant, null, 0), null)
    })
  }

  test('has CPU time for each message and each delivery', async () => {
    const messages = await undisturbed(assignment(entryRunning('sockets'), echo))
    assert.ok((messages.metrics.messageCpu ?? 0) > 0, messages.reason ?? '')
    const deliveries = await undisturbed(assignment(entryRunning('sockets'), publish))
    assert.equal(deliveries.status, 'measured', deliveries.reason ?? '')
    assert.ok((deliveries.metrics.deliveryCpu ?? 0) > 0)
    assert.equal((deliveries.metrics.requests ?? 0) % 100, 0)
  })

  test('keeps some memory for each socket that is held, and serves one more', async () => {
    const entry = entryRunning('sockets')
    const { scenario, variant, method } = assignment(entry, 'ws-idle')
    const few = { ...variant.measure, load: { ...variant.measure.load, connections: 2_000 } }
    const { status, reason, metrics } = await measure({
      entry,
      scenario,
      variant: { ...variant, measure: few },
      method,
    })
    assert.equal(status, 'measured', reason ?? '')
    // The package ws keeps some 9 KB for each, 18 MB for all; what the process has without them varies by 4 MB.
    assert.ok((metrics.socketMemory ?? 0) > 1_000, String(metrics.socketMemory))
    assert.ok((metrics.firstEcho ?? 0) > 0)
  })
})
