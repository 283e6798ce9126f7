import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { OpenAPIDocument, OpenAPIResponse } from 'volant'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('the document has the routes with all that is declared of them', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenAPIDocument
  assert.deepEqual(Object.keys(document.paths), ['/books', '/books/{isbn}'])
  const add = document.paths['/books']?.['post']
  assert.deepEqual(add?.security, [{ token: [] }])
  assert.deepEqual(Object.keys(add?.responses ?? {}), ['201', '400', '401', '413', '415'])
  const created = add?.responses['201'] as OpenAPIResponse
  assert.deepEqual(created.content?.['application/json']?.schema, { $ref: '#/components/schemas/Book' })
})

test('the page is there', async () => {
  const page = await fetch(`${url}/docs`)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(await page.text(), /<title>Library<\/title>/)
})

test('the routes do what the document says', async () => {
  assert.equal((await fetch(`${url}/books/9780141439587`)).status, 200)
  assert.equal((await fetch(`${url}/books/0000000000000`)).status, 404)
  assert.equal((await fetch(`${url}/books/emma`)).status, 400)
  const book = { method: 'POST', headers: { 'content-type': 'application/json' } }
  assert.equal((await fetch(`${url}/books`, { ...book, body: '{}' })).status, 401)
})
