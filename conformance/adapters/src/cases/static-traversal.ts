/** Nothing leads out of a static folder, and nothing in it is found by a path that middleware does not see. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { type App, createApp } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { type Kit, type Live, request } from '../kit.ts'
import { spellingsOf, traversals } from '../spellings.ts'

const secret = 'nobody may read this'

export function staticTraversal(kit: Kit): void {
  describe('out of a static folder', () => {
    let folder = ''
    let root = ''
    before(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'volant-')))
      root = join(folder, 'public')
      for (const name of ['css/.git', '.git', 'private', '..-not'])
        mkdirSync(join(root, name), { recursive: true })
      mkdirSync(join(folder, 'public-not'))
      for (const name of ['secret.txt', 'public-not/secret.txt', 'public/.env', 'public/.git/config']) {
        writeFileSync(join(folder, name), secret)
      }
      writeFileSync(join(root, 'css', '.git', 'config'), secret)
      writeFileSync(join(root, '..-not', 'secret.txt'), secret)
      writeFileSync(join(root, 'private', 'x.txt'), 'private')
      writeFileSync(join(root, 'index.html'), 'index')
      writeFileSync(join(root, 'css', 'site.css'), 'style')
      symlinkSync(join(folder, 'secret.txt'), join(root, 'out.txt'))
      symlinkSync('..', join(root, 'up'))
      symlinkSync('.env', join(root, 'env.txt'))
      symlinkSync('.git', join(root, 'git'))
      symlinkSync('css/..', join(root, 'around'))
    })
    after(() => rmSync(folder, { recursive: true }))

    const prefixes = ['/', '/assets/', '/mounted/files/', '/group/7/static/', '/page/', '/all/'] as const

    function build(): App {
      const inner = createApp({ signals: false })
      inner.static('/files', root)
      const app = kit.app()
      app.static('/', root)
      app.static('/assets', root, { extensions: ['html', 'txt'], precompressed: true })
      app.static('/page', root, { fallback: 'index.html', cache: false })
      app.static('/all', join(root, 'css'), { index: false })
      app.group('/group/:id', (group) => void group.static('/static', root))
      app.mount('/mounted', inner)
      return app
    }

    const spelled = traversals()

    /** Sends a target as it is, and gives all that comes back. */
    async function raw(live: Live, method: string, target: string): Promise<string> {
      const wire = await live.connect()
      const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
      wire.send(Buffer.from(head))
      await wire.until(() => (wire.isEnded ? true : undefined), 'the end of the connection')
      wire.close()
      return wire.received.toString('latin1')
    }

    test(`${spelled.length} spellings over a socket`, async () => {
      assert.ok(spelled.length >= 500)
      const app = build()
      const reported = kit.reports.length
      await kit.serve(app, async (live) => {
        const found: Record<string, number> = {}
        for (const [at, path] of spelled.entries()) {
          const target = `${prefixes[at % prefixes.length]}${path}`
          const method = at % 7 === 0 ? 'HEAD' : 'GET'
          const reply = await raw(live, method, at % 11 === 0 ? `http://localhost${target}` : target)
          assert.ok(!reply.includes(secret), `${method} ${target}: ${reply}`)
          assert.ok(!reply.includes(folder), target)
          const status = /^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 'closed'
          found[status] = (found[status] ?? 0) + 1
          if (status === '200') assert.match(reply, /\r\n\r\n(?:index|style|)$/, target)
          if (status === '308') assert.match(reply, /\r\nlocation: \/(?:[^/\\]|\r)/i, target)
          // A line break in a target makes it none; uWebSockets.js has no absolute form.
          assert.match(status, /^(?:200|308|400|404|505|closed)$/, `${target}: ${reply}`)
        }
        assert.ok((found['404'] ?? 0) > 100 && (found['400'] ?? 0) > 100, JSON.stringify(found))
        assert.equal((await live.ask('/assets/css/site.css')).text, 'style')
        assert.equal(kit.reports.length, reported)
      })
    })

    test(`${spelled.length} spellings through inject and fetch`, async () => {
      const app = build()
      for (const [at, path] of spelled.entries()) {
        const url = `${prefixes[at % prefixes.length]}${path}`
        const reply = await app
          .inject({ url, method: at % 7 === 0 ? 'HEAD' : 'GET' })
          .catch((error: unknown) => {
            assert.equal((error as { code?: string }).code, 'E_BAD_OPTION', `${url}: ${String(error)}`)
            return null
          })
        if (reply !== null) assert.ok(!reply.body.toString().includes(secret), url)
        if (!URL.canParse(`http://localhost${url}`)) continue
        const response = await app.fetch(new Request(`http://localhost${url}`))
        assert.ok(!(await response.text()).includes(secret), url)
      }
    })

    test('router, middleware, mount, folder and the key of a rate limit see the same path', async () => {
      const guarded = spellingsOf('files', 'private', 'x.txt')
      const mounted = spellingsOf('mounted', 'files', 'private', 'x.txt')
      const all = [...guarded, ...mounted, ...traversals().map((path) => `/files/${path}`)]
      assert.ok(all.length >= 500)
      let seen: string[] = []
      const see = (path: string): void => void seen.push(path)
      const app = kit.app()
      app.use((ctx, next) => (see(ctx.path), next()))
      app.use(rateLimit({ max: 1_000_000, keyGenerator: (ctx) => (see(ctx.path), ctx.path) }))
      app.onSend((ctx) => see(ctx.path))
      app.onResponse((ctx) => see(ctx.path))
      app.use('/files/private', (ctx) => ctx.reply(403))
      app.use('/mounted/files/private', (ctx) => ctx.reply(403))
      app.get('/files/:name', (ctx) => (see(ctx.path), ctx.params.name))
      app.static('/files', root, { cache: false })
      const inner = createApp({ signals: false })
      inner.use((ctx, next) => (see(ctx.path), next()))
      inner.static('/files', root)
      inner.onNotFound((ctx) => (see(ctx.path), 'none'))
      app.mount('/mounted', inner)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/files/private/x.txt')).status, 403)
        let reached = 0
        for (const path of all) {
          seen = []
          const reply = await raw(live, 'GET', path)
          // What the folder gives out has been before the guard.
          assert.ok(!reply.endsWith('\r\n\r\nprivate'), path)
          assert.ok(!reply.includes(secret), path)
          assert.ok(new Set(seen).size <= 1, `${path}: ${seen.join(', ')}`)
          if (seen.length > 1) reached++
        }
        assert.ok(reached > 200, String(reached))
      })
    })

    test('a folder that becomes a link out while a file in it is opened', async () => {
      mkdirSync(join(root, 'real'), { recursive: true })
      writeFileSync(join(root, 'real', 'secret.txt'), 'inside')
      symlinkSync(folder, join(root, 'link'))
      const app = kit.app()
      app.static('/', root, { cache: false })
      const swap = `
        const { renameSync } = require('node:fs')
        const { workerData } = require('node:worker_threads')
        const at = (name) => workerData.root + '/' + name
        // The name is a folder, then a link, then a folder.
        for (;;) {
          if (Atomics.load(workerData.stop, 0) === 1) break
          renameSync(at('real'), at('swapped'))
          renameSync(at('swapped'), at('real'))
          renameSync(at('link'), at('swapped'))
          renameSync(at('swapped'), at('link'))
        }`
      const stop = new Int32Array(new SharedArrayBuffer(4))
      const worker = new Worker(swap, { eval: true, workerData: { root, stop } })
      await kit
        .serve(app, async (live) => {
          const wire = await live.connect()
          let inside = 0
          let missing = 0
          for (let at = 0; at < 100_000 && (inside < 20 || missing < 200); at++) {
            const reply = await wire.send(request('GET', '/swapped/secret.txt')).reply()
            assert.notEqual(reply.text, secret)
            if (reply.status === 200) inside++
            else missing++
          }
          assert.ok(inside > 0 && missing > 0)
        })
        .finally(async () => {
          Atomics.store(stop, 0, 1)
          await new Promise((resolve) => worker.once('exit', resolve))
        })
      rmSync(join(root, 'real'), { recursive: true })
      renameSync(join(root, 'link'), join(root, 'away'))
    })
  })
}
