import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { connectOf, fromConnect } from 'volant/connect'
import { type Kit } from '../../kit.ts'
import { serving } from './serving.ts'

export function requestsOfConnect(kit: Kit): void {
  describe('connect middleware', () => {
    const serve = serving(kit)

    test('mounts: the URL without the prefix, and what has two readings is 404', async () => {
      const show = fromConnect((req, res) => {
        const { url, originalUrl, baseUrl } = req as IncomingMessage & Record<string, string>
        res.end(JSON.stringify([url, originalUrl, baseUrl]))
      })
      await serve(
        (app) => {
          app.use('/files', show)
          app.group('/api', (api) => api.use('/:team/files', show))
        },
        async (live) => {
          assert.deepEqual((await live.ask('/files/a/b?c=%20d')).json(), [
            '/a/b?c=%20d',
            '/files/a/b?c=%20d',
            '/files',
          ])
          assert.deepEqual((await live.ask('/files')).json(), ['/', '/files', '/files'])
          assert.deepEqual((await live.ask('/files?x')).json(), ['/?x', '/files?x', '/files'])
          assert.deepEqual((await live.ask('/api/red/files/a')).json(), [
            '/a',
            '/api/red/files/a',
            '/api/red/files',
          ])
          for (const path of ['/files/a%2Fb', '/files/a%2fb', '/files/..%5Cb', '/files%2Fa', '//files/a']) {
            assert.equal((await live.ask(path)).status, 404, path)
          }
          assert.equal((await live.ask('/files/a%00')).status, 400)
        },
      )
    })

    test('req and res of the context', async () => {
      await serve(
        (app) => {
          app.get('/*', (ctx) => {
            const { req, res } = connectOf(ctx)
            assert.equal(connectOf(ctx).req, req)
            res.setHeader('x-connect', String(req.headers['x-asked']))
            const { ip, protocol } = req as IncomingMessage & Record<string, unknown>
            return [req.method, req.url, req.httpVersion, ip, protocol, req.socket.remoteAddress === ip]
          })
        },
        async (live) => {
          const { text, headers } = await live.ask('/a?b', { headers: { 'x-asked': 'yes' } })
          assert.equal(
            text,
            `["GET","/a?b","${kit.version === '2' ? '2.0' : '1.1'}","127.0.0.1","${kit.scheme}",true]`,
          )
          assert.equal(headers['x-connect'], undefined)
        },
      )
    })
  })
}
