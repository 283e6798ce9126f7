/** Paths of routes as templates of OpenAPI. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { templatesOf } from '../../src/openapi/path-templates.ts'

describe('path templates', () => {
  for (const [pattern, paths] of [
    ['/', ['/']],
    ['/users', ['/users']],
    ['/users/:id', ['/users/{id}']],
    ['/:value.svg', ['/{value}.svg']],
    ['/a/::b', ['/a/:b']],
    ['/a/:x?/:y?', ['/a', '/a/{x}', '/a/{x}/{y}']],
    ['/:lang?', ['/', '/{lang}']],
    ['/files/*', ['/files/{rest}']],
    ['/files/*path', ['/files/{path}']],
    ['/:rest/*', ['/{rest}/{rest_}']],
    ['/ä b'.replace(' ', '%20'), ['/%C3%A4%20b']],
  ] as const) {
    test(pattern, () => {
      assert.deepEqual(
        templatesOf(pattern).map(({ path }) => path),
        paths,
      )
    })
  }
})
