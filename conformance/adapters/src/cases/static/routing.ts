import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { securityHeaders } from 'volant'
import type { Kit } from '../../kit.ts'
import { style, large, script, publicFolder } from './folder.ts'

/** Which requests a folder answers, beside routes, hooks and middleware. */
export function staticRouting(kit: Kit): void {
  describe('static folders', () => {
    const { folder, root, serve } = publicFolder(kit)

    test('what is not served: a dot, a link out, a pipe, a slash too many', async () => {
      await serve(
        (app) => {
          app.static('/', root)
          app.static('/all', root, { dotfiles: 'allow' })
          app.static('/.well-known', join(root, '.well-known'))
        },
        async (live) => {
          for (const path of [
            '/.env',
            '/env.txt',
            '/.git/',
            '/out.txt',
            '/up/outside.txt',
            '/all/out.txt',
            '/all/up/outside.txt',
            '/pipe',
            '/none.txt',
            '/css/site.css/',
            '/css//site.css',
            '//css/site.css',
            '/css%2Fsite.css',
            '/css%5Csite.css',
            '/css/site.css%00',
            '/..%2Foutside.txt',
            `/${'x'.repeat(300)}`,
          ]) {
            const reply = await live.ask(path)
            assert.equal(reply.status, path.includes('%00') ? 400 : 404, path)
            assert.ok(!reply.text.includes('secret'), path)
            assert.ok(!reply.text.includes(folder), path)
          }
          assert.equal((await live.ask('/all/.env')).text, 'secret')
          assert.equal((await live.ask('/all/env.txt')).text, 'secret')
          assert.equal((await live.ask('/.well-known/security.txt')).text, 'contact')
        },
      )
    })

    test('a route wins, whichever comes first; other methods are 405', async () => {
      await serve(
        (app) => {
          app.get('/docs/', () => 'route')
          app.static('/', root)
          app.get('/', () => 'home')
          app.get('/css/:name', (ctx) => `route ${ctx.params.name}`)
          app.post('/app.js', () => 'posted')
        },
        async (live) => {
          assert.equal((await live.ask('/')).text, 'home')
          assert.equal((await live.ask('/docs/')).text, 'route')
          assert.equal((await live.ask('/css/site.css')).text, 'route site.css')
          assert.equal((await live.ask('/app.js')).text, script)
          assert.equal((await live.ask('/app.js', { method: 'POST' })).text, 'posted')
          const refused = await live.ask('/large.bin', { method: 'PUT' })
          assert.equal(refused.status, 405)
          assert.equal(refused.headers['allow'], 'GET, HEAD, OPTIONS')
        },
      )
    })

    test('middleware of the scope runs before it; groups, with, plugins and mounts have folders of their own', async () => {
      const inner = kit.app()
      inner.static('/files', root)
      await serve(
        (app) => {
          app.use(securityHeaders())
          app.group('/a/:tenant', (group) => {
            group.use((ctx, next) => (ctx.params.tenant === 'evil' ? ctx.reply(403) : next()))
            group.static('/f', root)
          })
          app
            .with(async (ctx, next) => {
              ctx.header('x-seen', ctx.path).header('Cache-Control', 'private')
              await next()
            })
            .static('/w', root)
          app.register((scope) => void scope.static('/p', root))
          app.mount('/m', inner)
          app.mount('/n/files', inner)
        },
        async (live) => {
          assert.equal((await live.ask('/a/good/f/css/site.css')).text, style)
          assert.equal((await live.ask('/a/evil/f/css/site.css')).status, 403)
          for (let times = 0; times < 2; times++) {
            const reply = await live.ask('/w/css/site.css')
            assert.equal(reply.headers['x-seen'], '/w/css/site.css')
            assert.equal(reply.headers['cache-control'], 'private')
            assert.equal(reply.headers['x-content-type-options'], 'nosniff')
            assert.equal(reply.text, style)
          }
          for (const path of ['/p/css/site.css', '/m/files/css/site.css', '/n/files/files/css/site.css']) {
            assert.equal((await live.ask(path)).text, style, path)
          }
          assert.equal((await live.ask('/n/files/css/site.css')).status, 404)
          assert.equal((await live.ask('/m/files')).headers['location'], '/m/files/')
        },
      )
    })

    test('hooks see a file, and may change it', async () => {
      await serve(
        (app) => {
          app.onSend((_, reply) => {
            reply.headers.set('x-length', reply.length ?? 'unknown')
            reply.headers.set('x-tag', reply.headers.get('etag') ?? '')
            if (reply.headers.get('content-type')?.startsWith('text/css')) reply.body = 'changed'
          })
          app.static('/', root)
        },
        async (live) => {
          for (let times = 0; times < 2; times++) {
            const small = await live.ask('/css/site.css')
            assert.equal(small.text, 'changed')
            assert.equal(small.headers['x-length'], String(style.length))
            assert.equal(small.headers['x-tag'], small.headers['etag'])
            const big = await live.ask('/large.bin')
            assert.equal(big.headers['x-length'], String(large.length))
            assert.ok(big.body.equals(large))
          }
        },
      )
    })

    test('a file that is not there is answered by onNotFound', async () => {
      await serve(
        (app) => {
          app.static('/', root)
          app.group('/docs', (docs) => {
            docs.static('/', join(root, 'docs'))
            docs.onNotFound((ctx) => ctx.html(`no ${ctx.path}`))
          })
        },
        async (live) => {
          assert.equal((await live.ask('/docs/')).text, '<h1>docs</h1>')
          const reply = await live.ask('/docs/none')
          assert.deepEqual([reply.status, reply.text], [404, 'no /docs/none'])
          assert.equal(((await live.ask('/none')).json() as { code: string }).code, 'E_NOT_FOUND')
        },
      )
    })
  })
}
