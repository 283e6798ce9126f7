/** Routers of Express 4 and Express 5, mounted by fromConnect, and handlers that reject. */
import assert from 'node:assert/strict'
import { brief } from '../../src/client.ts'
import { express4, express5, type Handle, type Next, type Req, type Res } from '../../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../../src/scenario.ts'

scenarios('Express apps', {
  'a router of version 5': router(5),
  'a router of version 4': router(4),
  'async handlers that reject, of version 5': scenario({
    reports: true,
    build(site) {
      const app = express5()
      app.set('env', 'test')
      app.get('/rejects', async () => {
        throw Object.assign(new Error('rejected'), { status: 403 })
      })
      site.mount('/', app)
    },
    async play(client) {
      const reply = await client.get('/rejects')
      assert.equal(reply.status, 403)
      return brief(reply)
    },
  }),
})

/** A router mounted beside layers that add to what it sees. */
function router(version: 4 | 5): Scenario {
  return scenario({
    express: version,
    build(site) {
      const express = version === 4 ? express4 : express5
      const one = express.Router()
      one.use((req: Req, _res: Res, next: Next) => {
        req['seen'] = [req.url, req.baseUrl, req.originalUrl]
        next()
      })
      one.get('/x/:id', (req: Req, res: Res) =>
        res.end(JSON.stringify([req['mine'], req['seen'], { ...req['params'] }, req.url])),
      )
      one.post('/x', (req: Req, res: Res) => req.pipe(res))
      site.use((req: Req, _res: Res, next: Next) => {
        req['mine'] = 'mine'
        next()
      })
      site.mount('/api', one as Handle)
      site.handle('GET', '/after', (req, res) => res.end(JSON.stringify([req.url, req['baseUrl'] ?? ''])))
    },
    play: async (client) => [
      await client.get('/api/x/1?a=b'),
      await client.post('/api/x', 'text/plain', 'back again'),
      brief(await client.get('/api/none')),
      brief(await client.get('/api')),
      await client.get('/after?x'),
    ],
  })
}
