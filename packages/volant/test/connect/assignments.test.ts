/** What middleware of connect and Express sets on a request or a reply. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromConnect } from '../../src/connect/index.ts'
import { appWithReports } from './kit.ts'

test('what middlewares look for before they set it is not there', async () => {
  const { app } = appWithReports()
  app.get(
    '/',
    fromConnect((req, res) => {
      res.end(
        ['body', 'cookies', 'signedCookies', 'session', 'user', 'files'].filter((name) => name in req).join(),
      )
    }),
  )
  assert.equal((await app.inject('/')).text(), '')
})

test('what middlewares assign stays assigned', async () => {
  const { app } = appWithReports()
  app.use(
    fromConnect((req, _res, next) => {
      Object.assign(req, { id: 'own', query: { a: [1] }, ip: '::1', url: '/other?x', method: 'PUT' })
      req.headers['x-added'] = 'yes'
      next()
    }),
  )
  app.get(
    '/',
    fromConnect((req, res) => {
      const { id, query, ip, url, method, headers, originalUrl } = req as unknown as Record<string, unknown>
      res.end(
        JSON.stringify([
          id,
          query,
          ip,
          url,
          method,
          (headers as Record<string, string>)['x-added'],
          originalUrl,
        ]),
      )
    }),
  )
  assert.equal((await app.inject('/?q')).text(), '["own",{"a":[1]},"::1","/other?x","PUT","yes","/?q"]')
})
