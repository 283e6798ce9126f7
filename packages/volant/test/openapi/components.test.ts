/** Schemas that become components of a document, and their names. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, openapiOf, type Schema } from 'volant'
import * as z from 'zod'
import { dangling, named, plain, replying, schemaAt } from './schemas.ts'

const info = { title: 'Test', version: '1.0.0' }

describe('schemas in a document', () => {
  test('a schema with a title is a component wherever it is used; one without stands where it is used', () => {
    const Toy = { type: 'object', properties: { a: { type: 'string' } }, title: 'Toy' }
    const nameless = { type: 'object', properties: { b: { type: 'string' } } }
    const toys = { type: 'array', items: Toy, title: 'Toys' }
    const document = replying({
      '/inside': plain({ type: 'object', properties: { toy: { ...Toy } } }),
      '/toy': plain({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...Toy }),
      '/toys': plain(toys),
      '/nameless': plain(nameless),
      '/again': plain(nameless),
      '/data': plain({ const: Toy }),
    })
    const reference = { $ref: '#/components/schemas/Toy' }
    assert.deepEqual(schemaAt(document, '/inside'), { type: 'object', properties: { toy: reference } })
    assert.deepEqual(schemaAt(document, '/toy'), reference)
    // Only objects and unions are components.
    assert.deepEqual(schemaAt(document, '/toys'), { ...toys, items: reference })
    assert.deepEqual(schemaAt(document, '/nameless'), nameless)
    assert.deepEqual(schemaAt(document, '/again'), nameless)
    assert.deepEqual(schemaAt(document, '/data'), { const: Toy })
    assert.deepEqual(named(document), ['Toy'])
    assert.deepEqual(document.components.schemas?.['Toy'], Toy)
  })

  test('what one use says about a schema with a title stands beside the reference', () => {
    const Address = z
      .object({ city: z.string() })
      .meta({ title: 'Address', description: 'Where somebody lives' })
    const Customer = z
      .object({
        home: Address,
        bill: Address.describe('Where bills go'),
        old: Address.meta({ deprecated: true }),
      })
      .meta({ title: 'Customer', description: 'Somebody who buys' })
    const document = replying({ '/a': Address, '/b': z.array(Customer), '/c': Customer })
    assert.deepEqual(named(document), ['Address', 'Customer'])
    const { schemas = {} } = document.components
    const $ref = '#/components/schemas/Address'
    assert.equal(schemas['Customer']?.['description'], 'Somebody who buys')
    assert.deepEqual(schemas['Customer']?.['properties'], {
      home: { description: 'Where somebody lives', $ref },
      bill: { description: 'Where bills go', $ref },
      old: { description: 'Where somebody lives', deprecated: true, $ref },
    })
    assert.deepEqual(schemaAt(document, '/a'), { description: 'Where somebody lives', $ref })
    assert.deepEqual(schemaAt(document, '/c'), { $ref: '#/components/schemas/Customer' })
    assert.equal(schemas['Address']?.['description'], undefined)
  })

  test('different schemas of one title are numbered, as are those that contain them', () => {
    const address = (more: object) => ({
      type: 'object',
      properties: { city: {}, ...more },
      title: 'Address',
    })
    const order = (more: object) =>
      plain({ type: 'object', properties: { to: address(more), next: { $ref: '#' } }, title: 'Order' })
    const about = { type: 'string', description: 'Of the house' }
    const routes = {
      '/a': order({}),
      '/b': order({ zip: {} }),
      '/c': order({}),
      '/d': order({ number: about }),
    }
    for (const each of [Object.entries(routes), Object.entries(routes).toReversed()]) {
      const document = replying(Object.fromEntries(each))
      assert.deepEqual(named(document), ['Address', 'Address2', 'Address3', 'Order', 'Order2', 'Order3'])
      const { schemas = {} } = document.components
      const [first, second] = ['Order', 'Order2'].map((name) => schemas[name]?.['properties'])
      assert.deepEqual(first, {
        to: { $ref: '#/components/schemas/Address' },
        next: { $ref: '#/components/schemas/Order' },
      })
      assert.deepEqual(second, {
        to: { $ref: '#/components/schemas/Address2' },
        next: { $ref: '#/components/schemas/Order2' },
      })
      const paths = ['/a', '/b', '/c', '/d'].map(
        (path) => (schemaAt(document, path) as { $ref: string }).$ref,
      )
      assert.deepEqual(
        paths.map((path) => path.replace('#/components/schemas/', '')),
        ['Order', 'Order2', 'Order', 'Order3'],
      )
    }
  })

  test('names: title, id, then the operation; what is sent and what is received apart where they differ', () => {
    const object = (title: string, more: object = {}): Schema =>
      plain({ type: 'object', properties: {}, title, ...more })
    const app = createApp({ signals: false })
    app.post(
      '/a',
      {
        body: plain(
          { properties: {}, title: 'user account' },
          { properties: {}, title: 'user account', required: [] },
        ),
        response: object('Problem'),
      },
      () => ({}),
    )
    const both = plain(
      { properties: {}, title: 'Both' },
      { properties: {}, title: 'Both', additionalProperties: false },
    )
    app.post('/b', { body: both, response: both }, () => ({}))
    const byId = plain({ $id: 'https://example.com/schemas/thing.schema.json', properties: {} })
    app.get('/c', { response: byId }, () => ({}))
    app.get('/d', { response: byId }, () => ({}))
    app.get('/e', { response: object('Both') }, () => ({}))
    assert.deepEqual(named(openapiOf(app, { info })), ['Both', 'Both2', 'Problem2', 'UserAccount', 'thing'])
  })

  test('what differs by closed objects alone is one component, in the form that holds for both', () => {
    const Toy = z.object({ name: z.string() })
    const Cat = z.object({ name: z.string(), toys: z.array(Toy) }).meta({ title: 'Cat' })
    const Money = z.object({ amount: z.number() }).meta({ id: 'Money' })
    const Strict = z.strictObject({ a: z.string() }).meta({ title: 'Strict' })
    const Sent = z.object({ a: z.string() }).meta({ title: 'Sent' })
    const Filled = z.object({ a: z.string().default('x') }).meta({ title: 'Filled' })
    const Nameless = z.object({ money: Money })
    const app = createApp({ signals: false })
    for (const [path, schema] of Object.entries({ Cat, Strict, Filled, Nameless }))
      app.post(`/${path}`, { body: schema, response: { 201: schema } }, () => undefined as never)
    app.get('/owner', { response: z.object({ cat: Cat }) }, () => undefined as never)
    app.get('/sent', { response: Sent }, () => undefined as never)
    const document = openapiOf(app, { info })
    assert.deepEqual(named(document), ['Cat', 'Filled', 'FilledInput', 'Money', 'Sent', 'Strict'])
    const { schemas = {} } = document.components
    const isClosed = (name: string): boolean => schemas[name]?.['additionalProperties'] === false
    // Clients may send more, which is left out; what they are sent is within the same words.
    assert.deepEqual(Object.keys(schemas).filter(isClosed), ['Filled', 'Sent', 'Strict'])
    assert.deepEqual(schemaAt(document, '/owner'), {
      type: 'object',
      properties: { cat: { $ref: '#/components/schemas/Cat' } },
      required: ['cat'],
      additionalProperties: false,
    })
    assert.equal(JSON.stringify(schemas['Cat']).includes('additionalProperties'), false)
    // Generators call a type by its title.
    assert.deepEqual(
      [schemas['Filled']?.['title'], schemas['FilledInput']?.['title']],
      ['Filled', 'FilledInput'],
    )
    assert.deepEqual(dangling(document), [])
  })

  test('what is closed for clients and open for who is sent it stays two components', () => {
    const both = plain(
      { type: 'object', properties: {}, title: 'Both', additionalProperties: false },
      { type: 'object', properties: {}, title: 'Both' },
    )
    const app = createApp({ signals: false })
    app.post('/b', { body: both, response: both }, () => ({}))
    assert.deepEqual(named(openapiOf(app, { info })), ['Both', 'BothInput'])
  })

  test('a nameless schema that refers to itself is one component, wherever it stands', () => {
    const Echo = z.object({
      text: z.string(),
      get replies() {
        return z.array(Echo)
      },
    })
    const Tree = z.object({
      get kids() {
        return z.array(Tree)
      },
    })
    const app = createApp({ signals: false })
    app.post('/echo', { body: z.array(Echo), response: z.array(Echo) }, () => [])
    app.get('/echoes', { response: z.object({ first: Echo }) }, () => undefined as never)
    app.post('/tree', { body: Tree, response: Tree }, () => undefined as never)
    const document = openapiOf(app, { info })
    assert.deepEqual(named(document), ['PostEchoBodyPart', 'PostTreeBody'])
    assert.deepEqual(dangling(document), [])
  })

  test('letters that a name of a component cannot have are written as those it can', () => {
    const titles = ['Übel/Name #1 ~', 'Größe', 'Smørrebrød', '用户', '用户2']
    const app = createApp({ signals: false })
    for (const [at, title] of titles.entries())
      app.get(
        `/${at}`,
        { response: plain({ type: 'object', properties: {}, title, maxProperties: at }) },
        () => ({}),
      )
    assert.deepEqual(named(openapiOf(app, { info })), ['2', 'Grosse', 'Smorrebrod', 'UbelName1'])
  })

  test('data of an error is a component if it has a title', () => {
    const Missing = plain({ type: 'object', properties: { id: { type: 'string' } } })
    const Late = plain({ type: 'object', title: 'Too late', properties: { by: { type: 'integer' } } })
    const app = createApp({ signals: false })
    const errors = { MISSING: { status: 404, data: Missing }, LATE: { status: 409, data: Late } }
    for (const path of ['/a', '/b']) app.get(path, { errors }, () => 'ok')
    assert.deepEqual(named(openapiOf(app, { info })), ['TooLate'])
  })

  test('a name that is made of an operation gives way to a title', () => {
    const Body = plain({ type: 'object', title: 'GetAGone', properties: { own: { type: 'string' } } })
    const list = (name: string) => plain({ properties: { [name]: {}, next: { $ref: '#' } } })
    const app = createApp({ signals: false })
    app.get('/a', { errors: { GONE: { status: 410, data: list('q') } } }, () => 'ok')
    app.post('/y', { body: Body, response: list('p') }, () => ({ title: 'x' }))
    const { schemas = {} } = openapiOf(app, { info }).components ?? {}
    const { GetAGone, GetAGone2, PostYOutput } = schemas
    assert.deepEqual(
      [GetAGone, GetAGone2, PostYOutput].map((each) => Object.keys(each?.['properties'] ?? {})),
      [['own'], ['q', 'next'], ['p', 'next']],
    )
  })
})
