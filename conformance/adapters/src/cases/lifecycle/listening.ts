import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Scope, VolantError } from 'volant'
import { freePort } from '@volant/test-kit'
import { coded, deferred, type Kit, Live, turns } from '../../kit.ts'

/** How an app begins to listen, and what refuses it. */
export function listening(kit: Kit): void {
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
        await turns()
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
