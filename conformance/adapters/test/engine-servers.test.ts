import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { eventually, Kit, Live, request } from '../src/kit.ts'
import { Child } from './engine/child.ts'
import { openFiles, skip } from './engine/native.ts'

const kit = new Kit('native')

test('two apps share the engine and nothing else', { skip }, async () => {
  const [first, second] = [kit.app(), kit.app({ limits: { maxBodySize: 10 } })]
  first.get('/who', () => 'first')
  first.get('/first/:id', (ctx) => ctx.params.id)
  first.post('/size', (ctx) => String(ctx.bodyBytes.length))
  second.get('/other/:x', () => 'x')
  second.get('/who', () => 'second')
  second.post('/size', (ctx) => String(ctx.bodyBytes.length))
  const ask = async (live: Live, path: string) => {
    const { status, text } = await live.ask(path)
    return status === 200 ? text : status
  }
  await kit.serve(first, async (one) => {
    await kit.serve(second, async (two) => {
      for (let round = 0; round < 20; round++) {
        const answers = await Promise.all([
          ask(one, '/who'),
          ask(two, '/who'),
          ask(one, `/first/${round}`),
          ask(two, `/first/${round}`),
          one.post('/size', null, 'x'.repeat(11)).then(({ text }) => text),
          two.post('/size', null, 'x'.repeat(11)).then(({ status }) => status),
        ])
        assert.deepEqual(answers, ['first', 'second', String(round), 404, '11', 413])
      }
      // A refused body is no request of the app.
      assert.deepEqual([two.app.stats().requests, two.app.stats().refused], [40, 20])
    })
    assert.equal(await ask(one, '/who'), 'first')
    assert.equal(first.stats().requests, 61)
  })
})

test('200 apps in turn on the same port, with connections kept open by their clients', { skip }, async () => {
  let port = 0
  let before = 0
  for (let round = 0; round < 200; round++) {
    const app = kit.app()
    app.get('/', () => `round ${round}`)
    port = (await app.listen({ port, host: '127.0.0.1' })).port as number
    const live = new Live(app, { host: '127.0.0.1', port, path: null, url: '' })
    const wire = await live.connect()
    assert.equal((await wire.send(request('GET', '/')).reply()).text, `round ${round}`)
    await app.close()
    assert.equal(await wire.ended(), 'end')
    live.closeAll()
    if (round === 10) before = openFiles()
  }
  await eventually(
    () => openFiles() <= before,
    `no more than the ${before} open files there were after 10 rounds`,
  )
})

test('a port in use and a forbidden one are errors that say what to do', { skip }, async () => {
  const app = kit.app()
  await kit.serve(app, async ({ address }) => {
    await assert.rejects(kit.app().listen(address.port as number, '127.0.0.1'), {
      code: 'EADDRINUSE',
      message: `port ${address.port} of 127.0.0.1 is in use: stop the process that has it, or choose another`,
    })
    // Nothing is left of the attempt: the first app still answers, alone.
    assert.equal(app.stats().connections, 0)
  })
})

test('a port that needs more rights is an error that says so', { skip: skip || unprivileged() }, async () => {
  const { output } = await new Child('forbidden').outcome
  assert.equal(
    output,
    'EACCES: port 80 of 127.0.0.1 needs rights this process does not have: ports below 1024 usually do. Listen at another that the system or a proxy sends them on to, or give the process CAP_NET_BIND_SERVICE\n',
  )
})

/** Why port 80 is open to everybody here; false where it is not. */
function unprivileged(): string | false {
  try {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
    return first <= 80 ? `ports from ${first} on need no rights here` : false
  } catch {
    return 'which ports need rights is not known here'
  }
}
