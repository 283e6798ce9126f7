/** Static folders among the routes of an app. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { VolantError } from '../../src/index.ts'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('static', () => {
  let root = ''

  before(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'volant-')))
    mkdirSync(join(root, 'folder'))
    writeFileSync(join(root, 'index.html'), 'index')
    writeFileSync(join(root, 'a.txt'), 'a')
    symlinkSync(join(root, 'folder'), join(root, 'link'))
    symlinkSync(join(root, 'nothing'), join(root, 'broken'))
  })

  after(() => rmSync(root, { recursive: true }))

  test('a second folder with one prefix is a conflict, also where it is mounted', () => {
    const app = kit.app()
    app.static('/s', root)
    const conflict = (error: VolantError): boolean => error.code === 'E_ROUTE_CONFLICT'
    assert.throws(() => app.static('/s', root), conflict)
    assert.throws(() => app.static('/s/', root), conflict)
    assert.throws(() => app.get('/s/*path', () => 'x'), conflict)
    const inner = kit.app()
    inner.static('/', root)
    assert.throws(() => app.mount('/s', inner), conflict)
  })

  test('it is a route that documents do not show, and its paths without a name give way', async () => {
    const app = kit.app({ router: { ignoreTrailingSlash: true } })
    app.static('/s', root)
    app.get('/t', () => 'route')
    app.static('/t', root)
    assert.deepEqual(
      app.routes().map(({ method, path, hidden }) => [method, path, hidden]),
      [
        ['GET', '/s/*', true],
        ['GET', '/t', undefined],
        ['GET', '/t/*', true],
      ],
    )
    assert.equal((await app.inject('/s')).headers['location'], '/s/')
    assert.equal((await app.inject('/s/')).body.toString(), 'index')
    assert.equal((await app.inject('/t')).body.toString(), 'route')
    assert.equal((await app.inject('/t/')).body.toString(), 'route')
    assert.equal((await app.inject('/t/a.txt')).body.toString(), 'a')
  })

  test('registered too late', async () => {
    const app = kit.app()
    await app.listen({ port: 0, host: '127.0.0.1' })
    assert.throws(
      () => app.static('/s', root),
      (error: VolantError) => error.code === 'E_STARTED',
    )
    await app.close()
  })

  test('setHeaders that is async', async () => {
    const app = kit.app()
    app.static('/s', root, { setHeaders: async (headers) => headers.set('x', 'y') })
    assert.equal((await app.inject('/s/a.txt')).status, 500)
    assert.equal((kit.reports.pop() as VolantError).code, 'E_BAD_HANDLER')
  })
})
