/** References of schemas, and where they lead in a document. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Schema } from 'volant'
import * as z from 'zod'
import { dangling, named, plain, replying, schemaAt } from './schemas.ts'

describe('schemas in a document', () => {
  test('definitions become components, once for all schemas that have them, and recursion works', () => {
    const defs = {
      $defs: {
        Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } },
        unused: { type: 'string' },
      },
    }
    const document = replying({
      '/a': plain({ $ref: '#/$defs/Node', ...defs }),
      '/b': plain({ type: 'array', items: { $ref: '#/$defs/Node' }, ...defs }),
      '/self': plain({ type: 'object', title: 'Tree', properties: { kids: { items: { $ref: '#' } } } }),
      '/deep': plain({
        type: 'object',
        properties: { a: { type: 'number' }, b: { $ref: '#/properties/a' } },
      }),
    })
    assert.deepEqual(schemaAt(document, '/a'), { $ref: '#/components/schemas/Node' })
    assert.deepEqual(schemaAt(document, '/b'), {
      type: 'array',
      items: { $ref: '#/components/schemas/Node' },
    })
    assert.deepEqual(named(document), ['GetDeepOutputPart', 'Node', 'Tree'])
    const { Node, Tree } = document.components.schemas ?? {}
    assert.deepEqual(Node, { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } })
    assert.deepEqual(Tree?.['properties'], { kids: { items: { $ref: '#/components/schemas/Tree' } } })
    assert.deepEqual(schemaAt(document, '/deep'), {
      type: 'object',
      properties: { a: { type: 'number' }, b: { $ref: '#/components/schemas/GetDeepOutputPart' } },
    })
  })

  test('references of plain schemas and of libraries lead somewhere, whatever definitions are called', () => {
    const keys = ['Page<User>', '100%', '50% off', 'a/b', 'x~y', 'ü', '%24', 'a b', '__proto']
    const escapes: readonly ((key: string) => string)[] = [
      (key) => key,
      (key) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
      (key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')),
    ]
    const schemas: Record<string, Schema> = {
      '/plain': {
        $ref: '#/$defs/U',
        $defs: { U: { type: 'object', properties: { a: { type: 'string' } } } },
      },
      '/nested': {
        type: 'object',
        properties: {
          x: { type: 'object', properties: { y: { type: 'integer' } }, required: ['y'] },
          y: { $ref: '#/properties/x/properties/y' },
          z: { $defs: { In: { type: 'boolean' } }, $ref: '#/properties/z/$defs/In' },
        },
      },
      '/nested-again': { type: 'object', properties: { y: { type: 'integer' } }, required: ['y'] },
      '/encoded': plain({
        type: 'object',
        properties: { u: { $ref: '#/%24defs/U' } },
        $defs: { U: { const: 'encoded' } },
      }),
      '/anchor': plain({
        type: 'object',
        properties: { u: { $dynamicRef: '#it' }, v: { $ref: '#none' }, w: { $ref: '#/$defs/no' } },
        $defs: { U: { $dynamicAnchor: 'it', const: 'anchored' }, no: false },
      }),
    }
    for (const [at, key] of keys.entries()) {
      const $defs = { [key]: { type: 'object', properties: { at: { const: `${at}` } } } }
      schemas[`/own/${at}`] = { type: 'array', items: { $ref: `#/$defs/${escapes[2]?.(key)}` }, $defs }
      for (const [how, escape] of escapes.entries())
        schemas[`/lib/${at}/${how}`] = plain({ items: { $ref: `#/$defs/${escape(key)}` }, $defs })
      schemas[`/zod/${at}`] = z.array(z.object({ at: z.literal(`z${at}`) }).meta({ id: key }))
    }
    const document = replying(schemas)
    for (const path of Object.keys(schemas)) {
      const [, , at] = path.split('/')
      const { items } = schemaAt(document, path) as { items?: { $ref: string } }
      if (at === undefined) continue
      const found = document.components.schemas?.[items?.$ref.split('/').at(-1) as string]
      const properties = found?.['properties'] as { at: { const: string } } | undefined
      assert.equal(properties?.at.const, path.startsWith('/zod') ? `z${at}` : at, path)
    }
    assert.deepEqual(dangling(document), [])
    const plainly = document.paths['/plain']?.['get']?.responses['200'] as { content: object }
    assert.deepEqual(Object.keys(plainly.content), ['application/json'])
    const { properties } = schemaAt(document, '/anchor') as { properties: Record<string, object> }
    const { $ref: anchored } = properties['u'] as { $ref: string }
    assert.deepEqual(document.components.schemas?.[anchored.split('/').at(-1) as string], {
      const: 'anchored',
    })
    assert.deepEqual(properties['v'], {})
    assert.deepEqual(properties['w'], { not: {} })
  })

  test('schemas of the same words whose references mean different things are apart', () => {
    const item = { type: 'object', properties: { next: { $ref: '#/$defs/N' } } }
    const self = { type: 'object', properties: { up: { $ref: '#' } } }
    const document = replying({
      '/a': plain({ ...item, $defs: { N: { const: 'a' } } }),
      '/b': plain({ ...item, $defs: { N: { const: 'b' } } }),
      '/in': plain({ type: 'array', items: item, $defs: { N: { const: 'c' } } }),
      '/self': plain(self),
      '/other': plain({ type: 'object', title: 'Other', properties: { self } }),
    })
    const follow = (schema: unknown): Record<string, any> => {
      const { $ref } = schema as { $ref?: string }
      const target = $ref === undefined ? schema : document.components.schemas?.[$ref.split('/').at(-1) ?? '']
      return target as Record<string, any>
    }
    for (const path of ['a', 'b']) {
      const { properties } = follow(schemaAt(document, `/${path}`))
      assert.equal(follow(properties?.next).const, path)
    }
    const { items } = follow(schemaAt(document, '/in'))
    assert.equal(follow(follow(items).properties.next).const, 'c')
    const other = follow(schemaAt(document, '/other'))
    assert.equal(other.title, 'Other')
    assert.equal(follow(follow(other.properties.self).properties.up).title, 'Other')
    assert.deepEqual(dangling(document), [])
  })

  test('a property called $ref, properties or __proto__ is a property', () => {
    const properties = JSON.parse(
      '{"$ref":{"type":"string"},"properties":{"type":"string"},"__proto__":{"const":{"$ref":"#"}}}',
    )
    const document = replying({ '/a': plain({ type: 'object', properties }) })
    assert.equal(JSON.stringify(schemaAt(document, '/a')), JSON.stringify({ type: 'object', properties }))
  })
})
