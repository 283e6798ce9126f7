import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import type { Scope, VolantError } from 'volant'
import { freePort } from '@volant/test-kit'
import { procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { deferred, eventually, type Kit, Live, request, within } from '../kit.ts'

const coded = (code: string) => (error: VolantError) => (error.code as string) === code

export function lifecycle(kit: Kit): void {
  describe('listening and closing', () => {
    test('port 0 picks one and says which', async () => {
      const app = kit.app()
      let called: unknown
      const address = await app.listen(0, '127.0.0.1', (given) => {
        called = given
      })
      try {
        assert.ok((address.port as number) > 0)
        assert.equal(address.url, `http://127.0.0.1:${address.port}`)
        assert.equal(address.path, null)
        assert.equal(called, address)
      } finally {
        await app.close()
      }
    })

    test('no host listens on both families', async () => {
      const app = kit.app()
      app.get('/x', (ctx) => ctx.ip)
      const address = await app.listen()
      try {
        assert.match(await (await fetch(`${address.url}/x`)).text(), /127\.0\.0\.1|::1/)
        assert.match(await (await fetch(`http://127.0.0.1:${address.port}/x`)).text(), /127\.0\.0\.1$/)
      } finally {
        await app.close()
      }
    })

    test('a second listen is refused', async () => {
      const app = kit.app()
      await kit.serve(app, async () => {
        await assert.rejects(app.listen(0), coded('E_ALREADY_LISTENING'))
      })
      await assert.rejects(app.listen(0), coded('E_ALREADY_LISTENING'))
    })

    test('routes are fixed once the app listens, and the error names what came too late', async () => {
      const app = kit.app()
      let inner = app as Scope
      app.group('/a', (scope) => void (inner = scope as unknown as Scope))
      await kit.serve(app, async () => {
        const late: [string, () => unknown][] = [
          ['GET /x', () => app.get('/x', () => 1)],
          ['DELETE /a/x', () => inner.delete('/x', () => 1)],
          ['use()', () => app.use(() => 1)],
          ['with()', () => app.with(() => 1)],
          ['group(/g)', () => app.group('/g', () => {})],
          ['register()', () => app.register(() => {})],
          ['mount(/m)', () => app.mount('/m', kit.app())],
          ['onError()', () => app.onError(() => {})],
          ['expose()', () => app.expose({}, { path: false })],
        ]
        for (const [what, run] of late) {
          assert.throws(run, (error: VolantError) => {
            assert.equal(error.code, 'E_STARTED')
            assert.ok(error.message.startsWith(`${what} comes too late: routes, `), error.message)
            return true
          })
        }
      })
    })

    test('EADDRINUSE says what to do, and the app can listen elsewhere', async () => {
      const app = kit.app()
      await kit.serve(app, async (live) => {
        const second = kit.app()
        await assert.rejects(
          second.listen(live.address.port as number, '127.0.0.1'),
          (error: VolantError) => {
            assert.equal(error.code, 'EADDRINUSE')
            assert.match(error.message, new RegExp(`port ${live.address.port}.*in use`))
            return true
          },
        )
        await second.listen(0, '127.0.0.1')
        await second.close()
      })
    })

    test('an address this machine does not have', async () => {
      await assert.rejects(kit.app().listen(0, '203.0.113.7'), coded('EADDRNOTAVAIL'))
    })

    test(
      'EACCES says what to do',
      { skip: process.getuid?.() === 0 ? 'root may listen on every port' : false },
      async () => {
        await assert.rejects(kit.app().listen(1, '127.0.0.1'), (error: VolantError) => {
          assert.match(error.message, /rights/)
          return (error.code as string) === 'EACCES'
        })
      },
    )

    test('a Unix socket; a stale file is replaced, a live one and another file are not', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'volant-'))
      const path = join(folder, 'app.sock')
      try {
        const app = kit.app()
        app.get('/x', (ctx) => `ip=${ctx.ip}`)
        const address = await app.listen({ path })
        assert.deepEqual([address.path, address.port, address.url], [path, null, `unix:${path}`])
        const live = new Live(app, address)
        assert.equal((await live.ask('/x')).text, 'ip=')
        await assert.rejects(kit.app().listen({ path }), coded('EADDRINUSE'))
        live.closeAll()
        await app.close()

        // A process that is killed leaves its socket file.
        const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
        await new Promise((resolve) => spawn(process.execPath, ['-e', script]).on('exit', resolve))
        const next = kit.app()
        await next.listen({ path })
        await next.close()

        const file = join(folder, 'file')
        writeFileSync(file, 'mine')
        await assert.rejects(kit.app().listen({ path: file }), coded('EADDRINUSE'))
      } finally {
        rmSync(folder, { recursive: true })
      }
    })

    test('what is cut off on a Unix socket, which has no reset, ends alone', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'volant-'))
      const app = kit.app({ limits: { sendTimeout: 300, shutdownTimeout: 300 } })
      const left = deferred()
      app.get('/broken', (ctx) =>
        ctx.stream(
          (async function* () {
            yield 'begun'
            throw new Error('broken')
          })(),
        ),
      )
      app.get('/unread', (ctx) => {
        ctx.signal.addEventListener('abort', () => left.resolve())
        return (function* () {
          for (;;) yield Buffer.alloc(65_536)
        })()
      })
      app.get('/wait', (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)))
      try {
        const live = new Live(app, await app.listen({ path: join(folder, 'app.sock') }))
        const broken = (await live.connect()).send(request('GET', '/broken'))
        await within(broken.closed, 30_000, 'the end of the broken stream')
        const unread = await live.connect()
        unread.socket.pause()
        unread.send(request('GET', '/unread'))
        await within(left.promise, 30_000, 'the end of what is not read')
        const waiting = (await live.connect()).send(request('GET', '/wait'))
        await eventually(() => app.stats().inFlight === 1, 'the request in flight')
        await within(app.close(), 30_000, 'the close')
        await within(waiting.closed, 30_000, 'the end of what is in flight')
        live.closeAll()
      } finally {
        kit.reports.length = 0
        await app.close()
        rmSync(folder, { recursive: true })
      }
    })

    const badListens: [string, unknown][] = [
      ['port -1', -1],
      ['port 65536', 65_536],
      ['port NaN', NaN],
      ['port 1.5', 1.5],
      ["port '80'", '80'],
      ['port Infinity', { port: Infinity }],
      ['an empty path', { path: '' }],
      ['path and port', { path: '/tmp/x', port: 1 }],
      ['backlog 0', { port: 0, backlog: 0 }],
      ['backlog NaN', { port: 0, backlog: NaN }],
      ['a host that is a number', { port: 0, host: 1 }],
      ['reusePort that is no boolean', { port: 0, reusePort: 1 }],
    ]
    for (const [name, target] of badListens) {
      test(`listen refuses ${name}`, async () => {
        await assert.rejects(kit.app().listen(target as number), coded('E_BAD_OPTION'))
      })
    }

    test('close answers what is in flight, says close, and resolves', async () => {
      const app = kit.app()
      const started = deferred()
      const finish = deferred()
      app.get('/slow', async () => {
        started.resolve()
        await finish.promise
        return 'done'
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const busy = await live.connect()
      const idle = await live.connect()
      const fresh = await live.connect()
      assert.equal((await idle.send(request('GET', '/none')).reply()).status, 404)
      busy.send(request('GET', '/slow'))
      await started.promise
      const closing = app.close()
      assert.equal(app.close(), closing)
      // uWebSockets.js does not say which connections are idle: it closes them after the last reply.
      if (kit.adapter !== 'uwebsockets') await idle.ended()
      finish.resolve()
      const reply = await busy.reply()
      assert.equal(reply.text, 'done')
      assert.equal(reply.headers['connection'], 'close')
      await busy.ended()
      await idle.ended()
      for (const wire of [busy, idle, fresh]) wire.close()
      await within(closing, 8_000, 'close')
      await assert.rejects(live.ask('/slow'), /ECONNREFUSED/)
    })

    test('after shutdownTimeout the rest is reset, and signals fire', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 200 } })
      const started = deferred()
      let fired = 0
      app.get('/never', (ctx) => {
        ctx.signal.addEventListener('abort', () => fired++)
        started.resolve()
        return new Promise(() => {})
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = await live.connect()
      wire.send(request('GET', '/never'))
      await started.promise
      const start = Date.now()
      await within(app.close(), 15_000, 'close')
      const took = Date.now() - start
      assert.ok(took >= 150 && took < 10_000, `${took} ms`)
      await wire.ended()
      assert.equal(fired, 1)
      wire.close()
    })

    test('a stream in flight is finished by close', async () => {
      const app = kit.app()
      app.get('/s', async function* () {
        yield '0'
        await eventually(() => app.closing, 'the app closes')
        for (let at = 1; at < 5; at++) {
          await sleep(5)
          yield String(at)
        }
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const wire = await live.connect()
      wire.send(request('GET', '/s'))
      await wire.until(() => (wire.received.includes('\r\n1\r\n0') ? true : undefined), 'the first chunk')
      const closing = app.close()
      assert.equal((await wire.reply()).text, '01234')
      // Of its own accord: its head could not say so yet.
      assert.equal(await within(wire.closed, 8_000, 'the end'), 'end')
      await within(closing, 8_000, 'close')
    })

    test('close tells open streams, and they end properly', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 60_000 } })
      const reasons: unknown[] = []
      const opened = [deferred(), deferred()]
      app.get('/events', async function* (ctx) {
        yield 'data: 1\n\n'
        opened[0]?.resolve()
        await sleep(60_000, undefined, { signal: ctx.signal }).catch(() => {})
        reasons.push(ctx.signal.reason, app.closing)
        yield 'data: last\n\n'
      })
      app.get('/thrown', async function* (ctx) {
        yield 'data: 1\n\n'
        opened[1]?.resolve()
        await sleep(60_000, undefined, { signal: ctx.signal })
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const reported = kit.reports.length
      const wire = (await live.connect()).send(request('GET', '/events'))
      const cut = (await live.connect()).send(request('GET', '/thrown'))
      for (const { promise } of opened) await promise
      await cut.until(() => (cut.received.includes('data: 1') ? true : undefined), 'the first event')
      const injected = app.inject('/events')
      await within(app.close(), 30_000, 'close')
      const reply = await wire.reply()
      assert.equal(reply.text, 'data: 1\n\ndata: last\n\n')
      assert.equal((await injected).text(), reply.text)
      const [reason, closing] = reasons as [DOMException, boolean]
      assert.deepEqual([reason.name, reason.message], ['AbortError', 'the server is closing'])
      assert.equal(closing, true)
      // Work that was told to stop failed: no half reply is taken for a whole one, and that is no news.
      await assert.rejects(cut.reply())
      assert.equal(kit.reports.length, reported)
      live.closeAll()
    })

    test('close does not tell requests that have no reply yet, nor streams with a length', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 60_000 } })
      const told: string[] = []
      const go = deferred()
      let begun = 0
      app.get('/work', async (ctx) => {
        ctx.signal.addEventListener('abort', () => told.push('work'))
        begun++
        await go.promise
        return `done ${ctx.signal.aborted}`
      })
      app.get('/download', (ctx) => {
        ctx.signal.addEventListener('abort', () => told.push('download'))
        const source = async function* () {
          begun++
          await go.promise
          yield 'abc'
        }
        ctx.stream(source(), { length: 3 })
      })
      app.get('/later', async (ctx) => {
        begun++
        await go.promise
        const before = ctx.signal.aborted
        const source = async function* () {
          yield `${before} ${ctx.signal.aborted}`
        }
        ctx.stream(source())
      })
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const paths = ['/work', '/download', '/later']
      const wires = await Promise.all(
        paths.map(async (path) => (await live.connect()).send(request('GET', path))),
      )
      await eventually(() => begun === 3, 'all three')
      const closing = app.close()
      go.resolve()
      const texts = await Promise.all(wires.map(async (wire) => (await wire.reply()).text))
      assert.deepEqual(texts, ['done false', 'abc', 'false true'])
      assert.deepEqual(told, [])
      for (const wire of wires) wire.close()
      await within(closing, 30_000, 'close')
    })

    test('close ends subscriptions so that their clients connect again', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 60_000 } })
      const ends: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
        returns: (signal) => sleep(60_000, undefined, { signal }).catch(() => {}),
        throws: (signal) => sleep(60_000, undefined, { signal }),
        hangs: () => new Promise(() => {}),
      }
      const subscription = (end: string) =>
        procedure().subscription(async function* ({ ctx }) {
          yield 1
          await ends[end]?.(ctx.signal)
        })
      const routes = Object.fromEntries(Object.keys(ends).map((end) => [end, subscription(end)]))
      app.register(trpc(router(routes)))
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const reported = kit.reports.length
      const wires = await Promise.all(
        Object.keys(ends).map(async (end) => (await live.connect()).send(request('GET', `/trpc/${end}`))),
      )
      for (const wire of wires) {
        await wire.until(() => (wire.received.includes('data: 1') ? true : undefined), 'the first event')
      }
      await within(app.close(), 30_000, 'close')
      for (const wire of wires) {
        if (!kit.can('last-chunk')) await wire.closed
        const text = kit.can('last-chunk') ? (await wire.reply()).text : String(wire.received)
        assert.doesNotMatch(text, /event: (return|serialized-error)/)
      }
      assert.equal(kit.reports.length, reported)
      live.closeAll()
    })

    test('onClosing runs first, all of them at once, while the port is open', async () => {
      const app = kit.app()
      const ran: string[] = []
      const go = deferred()
      app.onClose(() => void ran.push('closed'))
      app.onClosing(() => {
        ran.push(`first ${app.closing}`)
        throw new Error('hook')
      })
      app.onClosing(async () => {
        ran.push('second')
        await go.promise
        ran.push('second is through')
      })
      app.get('/x', () => 'x')
      const live = new Live(app, await app.listen(0, '127.0.0.1'))
      const closing = app.close()
      closing.catch(() => {})
      assert.deepEqual(ran, ['first true', 'second'])
      assert.equal((await live.ask('/x')).text, 'x')
      go.resolve()
      await assert.rejects(within(closing, 30_000, 'close'), /^Error: hook$/)
      assert.deepEqual(ran, ['first true', 'second', 'second is through', 'closed'])
      await assert.rejects(live.ask('/x'), /ECONNREFUSED/)
      live.closeAll()
    })

    test('an onClosing hook that hangs is waited for as long as shutdownTimeout', async () => {
      const app = kit.app({ limits: { shutdownTimeout: 50 } })
      app.onClosing(() => new Promise(() => {}))
      await app.listen(0, '127.0.0.1')
      await within(app.close(), 30_000, 'close')
    })

    test('closed while it starts it does not listen', async () => {
      const closed = (error: VolantError) => /closed/.test(error.message)
      const slow = kit.app()
      const entered = deferred()
      const go = deferred()
      slow.onStart(() => {
        entered.resolve()
        return go.promise
      })
      const starting = assert.rejects(slow.listen(0, '127.0.0.1'), closed)
      await entered.promise
      const closing = slow.close()
      go.resolve()
      await closing
      await starting

      // At every turn of a start that takes a few.
      for (let turns = 0; turns < 8; turns++) {
        const app = kit.app()
        const port = await freePort()
        const listening = app.listen(port, '127.0.0.1').catch((error: VolantError) => {
          if (!closed(error)) throw error
        })
        for (let turn = 0; turn < turns; turn++) await Promise.resolve()
        await app.close()
        await listening
        await assert.rejects(fetch(`http://127.0.0.1:${port}/`), `${turns} turns`)
      }
    })

    test('what is registered after an inject is waited for and run', async () => {
      const app = kit.app()
      const ran: string[] = []
      app.onStart(() => void ran.push('first'))
      assert.equal((await app.inject('/late')).status, 404)
      app.register(async (scope: Scope) => {
        await sleep(20)
        scope.get('/late', () => 'late')
        scope.onStart(() => void ran.push('plugin'))
      })
      app.onStart(() => void ran.push('second'))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/late')).text, 'late')
      })
      assert.deepEqual(ran, ['first', 'second', 'plugin'])

      const failing = kit.app()
      await failing.inject('/')
      failing.register(() => Promise.reject(new Error('no database')))
      await assert.rejects(failing.listen(0, '127.0.0.1'), /no database/)
      await assert.rejects(failing.ready(), /no database/)
    })

    test('close without listen resolves', async () => {
      await kit.app().close()
    })

    for (const [signal, twice] of [
      ['SIGTERM', false],
      ['SIGINT', false],
      ['SIGTERM', true],
    ] as const) {
      test(`${signal}${twice ? ' twice ends at once' : ' lets the request in flight finish, then the process ends with 0'}`, async () => {
        const volant = import.meta.resolve('volant')
        const script = `
          import { createApp } from ${JSON.stringify(volant)}
          const app = createApp({ adapter: { type: ${JSON.stringify(kit.adapter)} } })
          const closing = new Promise((go) => app.onClosing(go)).then(() => console.log('closing'))
          app.get('/slow', async () => {
            console.log('entered')
            await closing
            await new Promise((go) => ${twice} || setTimeout(go, 50))
            return 'done'
          })
          const { port } = await app.listen(0, '127.0.0.1')
          console.log(port)`
        const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const exited = new Promise<[number | null, string | null]>((resolve) =>
          child.on('exit', (code, by) => resolve([code, by])),
        )
        let said = ''
        child.stdout.on('data', (text) => (said += text))
        await eventually(() => said.includes('\n'), 'the port')
        const reply = fetch(`http://127.0.0.1:${Number.parseInt(said, 10)}/slow`).then((answer) =>
          answer.text(),
        )
        reply.catch(() => {})
        await eventually(() => said.includes('entered'), 'the request in its handler')
        child.kill(signal)
        if (twice) {
          await eventually(() => said.includes('closing'), 'the first signal')
          child.kill(signal)
          assert.deepEqual(await within(exited, 30_000, 'the exit'), [null, signal])
          await assert.rejects(reply)
        } else {
          assert.equal(await reply, 'done')
          assert.deepEqual(await within(exited, 30_000, 'the exit'), [0, null])
        }
      })
    }

    test('a signal closes every app, also when onClose of one fails', async () => {
      const script = `
        import { createApp } from ${JSON.stringify(import.meta.resolve('volant'))}
        const options = { adapter: { type: ${JSON.stringify(kit.adapter)} } }
        const failing = createApp(options)
        failing.onClose(() => { throw new Error('hook') })
        await failing.listen(0, '127.0.0.1')
        const app = createApp(options)
        const closing = new Promise((go) => app.onClosing(go))
        app.get('/slow', async () => {
          console.error('entered')
          await closing
          return new Promise((go) => setTimeout(go, 50, 'done'))
        })
        console.log((await app.listen(0, '127.0.0.1')).port)`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script])
      const exited = new Promise((resolve) => child.on('exit', resolve))
      let said = ''
      child.stderr.on('data', (text) => (said += text))
      const port = await new Promise<number>((resolve) =>
        child.stdout.once('data', (line) => resolve(Number(line))),
      )
      const reply = fetch(`http://127.0.0.1:${port}/slow`).then((answer) => answer.text())
      reply.catch(() => {})
      await eventually(() => said.includes('entered'), 'the request in its handler')
      child.kill('SIGTERM')
      assert.equal(await reply, 'done')
      assert.equal(await within(exited, 30_000, 'the exit'), 1)
      assert.match(said, /close\(\) failed: Error: hook/)
    })

    test('unref lets the process end', kit.needs('unref'), async () => {
      const volant = import.meta.resolve('volant')
      const script = `
        import { createApp } from ${JSON.stringify(volant)}
        const app = createApp({ adapter: { type: ${JSON.stringify(kit.adapter)} } })
        await app.listen(0, '127.0.0.1')
        app.unref()`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
      const code = await within(new Promise((resolve) => child.on('exit', resolve)), 60_000, 'the exit')
      assert.equal(code, 0)
    })

    test('two apps in one process', async () => {
      const one = kit.app()
      const two = kit.app()
      one.get('/', () => 'one')
      two.get('/', () => 'two')
      await kit.serve(one, async (first) => {
        await kit.serve(two, async (second) => {
          assert.equal((await first.ask('/')).text, 'one')
          assert.equal((await second.ask('/')).text, 'two')
        })
        assert.equal((await first.ask('/')).text, 'one')
      })
    })

    test('a port is free again after close', async () => {
      const app = kit.app()
      let port = 0
      await kit.serve(app, async (live) => {
        port = live.address.port as number
        await live.ask('/')
      })
      const server = createServer()
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(port, '127.0.0.1', resolve),
      )
      await new Promise((resolve) => server.close(resolve))
    })
  })
}
