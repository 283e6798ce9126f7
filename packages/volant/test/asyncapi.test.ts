/** The AsyncAPI document of WebSockets, held against the JSON Schema of AsyncAPI 3.0 itself. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { Ajv } from 'ajv'
import * as z from 'zod'
import { type App, asyncapiOf, createApp, middleware, openapi, openapiOf } from '../src/index.ts'
import { draft07Of } from '../src/openapi/draft-07.ts'

const info = { title: 'Chat', version: '1.0.0' }

const specification = createRequire(import.meta.url)(
  '@asyncapi/specs/schemas/3.0.0-without-$id.json',
) as object
// Its own schema uses `example` and formats that Ajv does not know.
const valid = new Ajv({ strict: false, validateFormats: false, logger: false }).compile(specification)

function checked(app: App, options = {}) {
  const document = asyncapiOf(app, { info, ...options })
  assert.ok(valid(document), JSON.stringify(valid.errors, null, 2))
  return document
}

const User = z.object({ name: z.string(), age: z.int().optional() }).meta({ title: 'User' })
const Message = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: z.string(), pair: z.tuple([z.string(), z.number()]) }),
    z.object({ kind: z.literal('join'), user: User }),
  ])
  .meta({ title: 'Message' })
const signedIn = middleware(
  { errors: { SIGN_IN: { status: 401 } }, security: { bearer: { type: 'http', scheme: 'bearer' } } },
  (_, next) => next(),
)

function chatApp(): App {
  const app = createApp({ signals: false })
  const chat = app.ws('/chat/:room', signedIn, {
    summary: 'One room',
    description: 'Who joins sees what follows.',
    tags: ['live'],
    params: z.object({ room: z.enum(['a', 'b']).describe('Its name') }),
    query: z.object({ since: z.coerce.number() }),
    headers: z.object({ 'x-client': z.string().optional() }),
    protocols: ['chat.v2', 'chat.v1'],
    in: Message,
    out: z.object({ from: User, message: Message }),
  })
  app.expose({ rooms: { chat } })
  app.ws('/raw/:id?', {})
  app.ws('/hidden', { hidden: true })
  app.get('/users', { response: z.array(User) }, () => [])
  return app
}

describe('asyncapiOf', () => {
  test('the specification refuses what is no document', () => {
    const document = checked(chatApp())
    assert.equal(valid({ ...document, channels: { x: { adress: '/x' } } }), false)
    assert.equal(valid({ ...document, operations: { x: { action: 'push' } } }), false)
  })

  test('a channel has the address, the handshake and the messages of its route', () => {
    const { channels, operations, components } = checked(chatApp())
    assert.deepEqual(Object.keys(channels), ['rooms.chat', 'wsRawByIdWithoutId', 'wsRawById'])
    const { messages, bindings, ...chat } = channels['rooms.chat'] as (typeof channels)[string]
    assert.deepEqual(chat, {
      address: '/chat/{room}',
      summary: 'One room',
      description: 'Who joins sees what follows.',
      tags: [{ name: 'live' }],
      parameters: { room: { description: 'Its name', enum: ['a', 'b'] } },
    })
    assert.deepEqual(messages.in, {
      name: 'rooms.chat.in',
      contentType: 'application/json',
      payload: { $ref: '#/components/schemas/Message' },
    })
    assert.deepEqual(messages.out.payload?.['properties'], {
      from: { $ref: '#/components/schemas/User' },
      message: { $ref: '#/components/schemas/Message' },
    })
    assert.deepEqual(bindings, {
      ws: {
        method: 'GET',
        query: { type: 'object', properties: { since: { type: 'number' } }, required: ['since'] },
        headers: {
          type: 'object',
          properties: {
            'x-client': { type: 'string' },
            'sec-websocket-protocol': {
              description: 'Subprotocols in the order of preference; the server knows chat.v2, chat.v1.',
              type: 'string',
            },
          },
        },
        bindingVersion: '0.1.0',
      },
    })
    assert.deepEqual(operations['rooms.chat.receive'], {
      action: 'receive',
      channel: { $ref: '#/channels/rooms.chat' },
      messages: [{ $ref: '#/channels/rooms.chat/messages/in' }],
      summary: 'One room',
      security: [{ $ref: '#/components/securitySchemes/bearer' }],
    })
    assert.equal(operations['rooms.chat.send']?.messages[0]?.$ref, '#/channels/rooms.chat/messages/out')
    assert.deepEqual(Object.keys(components.schemas ?? {}), ['Message', 'User'])
    assert.deepEqual(components.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } })
  })

  test('messages without a schema are text or bytes', () => {
    const { channels } = checked(chatApp())
    assert.deepEqual(channels['wsRawById']?.messages, {
      in: { name: 'wsRawById.in', description: 'Text or bytes.' },
      out: { name: 'wsRawById.out', description: 'Text or bytes.' },
    })
  })

  test('it says what clients send, and what they get', () => {
    const app = createApp({ signals: false })
    const at = z.object({ at: z.string().default('now') })
    app.ws('/x', { operationId: 'x', in: at, out: at })
    const { channels } = checked(app)
    assert.equal(channels['x']?.messages.in.payload?.['required'], undefined)
    assert.deepEqual(channels['x']?.messages.out.payload?.['required'], ['at'])
  })

  test('servers and security schemes have the words of AsyncAPI', () => {
    const scope = { read: 'Reads' }
    const flow = { authorizationUrl: 'https://a.example/auth', scopes: scope }
    const app = createApp({ signals: false })
    app.ws('/x', { security: [{ key: [] }, { oauth: ['read'] }] })
    const document = checked(app, {
      servers: [
        { url: 'https://{region}.example/v1/', variables: { region: { default: 'eu', enum: ['eu', 'us'] } } },
        { url: 'http://localhost:3000', description: 'Here' },
        { url: '/relative' },
      ],
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-key' },
        oauth: { type: 'oauth2', flows: { implicit: flow } },
      },
      info: {
        ...info,
        summary: 'Talk.',
        description: 'To all.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
    })
    assert.deepEqual(document.servers, {
      server1: {
        host: '{region}.example',
        pathname: '/v1',
        protocol: 'wss',
        variables: { region: { default: 'eu', enum: ['eu', 'us'] } },
      },
      server2: { host: 'localhost:3000', protocol: 'ws', description: 'Here' },
    })
    assert.deepEqual(document.components.securitySchemes, {
      key: { type: 'httpApiKey', in: 'header', name: 'x-key' },
      oauth: {
        type: 'oauth2',
        flows: { implicit: { authorizationUrl: 'https://a.example/auth', availableScopes: scope } },
      },
    })
    assert.deepEqual(document.info, { ...info, description: 'Talk.\n\nTo all.', license: { name: 'MIT' } })
  })

  test('schemas are written in the words of draft 7', () => {
    const ref = { $ref: '#/x' }
    for (const [given, wanted] of [
      [{ type: 'array', contains: ref, minContains: 0, maxContains: 2 }, { type: 'array' }],
      [
        { type: 'array', prefixItems: [ref], items: {} },
        { type: 'array', items: [ref], additionalItems: {} },
      ],
      [
        { type: 'array', items: ref },
        { type: 'array', items: ref },
      ],
      [
        { ...ref, description: 'd' },
        { description: 'd', allOf: [ref] },
      ],
      [{ ...ref, allOf: [{ type: 'object' }] }, { allOf: [{ type: 'object' }, ref] }],
      [{ dependentRequired: { a: ['b'] } }, { dependencies: { a: ['b'] } }],
      [{ oneOf: [ref], discriminator: { propertyName: 'kind' } }, { oneOf: [ref] }],
      [{ properties: { a: { unevaluatedProperties: false } } }, { properties: { a: {} } }],
    ] as const)
      assert.deepEqual(draft07Of(given), wanted)
  })
})

describe('the OpenAPI document of a WebSocket', () => {
  test('its handshake is a GET with 101, and says where its messages are', () => {
    const { paths } = openapiOf(chatApp(), { info })
    assert.deepEqual(Object.keys(paths), ['/chat/{room}', '/raw', '/raw/{id}', '/users'])
    const { get } = paths['/chat/{room}'] as (typeof paths)[string]
    assert.equal(get?.['x-asyncapi-channel'], 'rooms.chat')
    assert.equal(get?.requestBody, undefined)
    assert.deepEqual(Object.keys(get?.responses ?? {}), ['101', '400', '401', '403', '414', '426', '431'])
    assert.deepEqual(
      get?.parameters?.map((each) => `${each.in} ${each.name}`),
      ['path room', 'query since', 'header x-client'],
    )
    assert.deepEqual(get?.security, [{ bearer: [] }])
  })

  test('a GET of the same path has its place', () => {
    const app = createApp({ signals: false })
    app.ws('/both', { operationId: 'socket' })
    app.get('/both', { operationId: 'page', response: z.string() }, () => 'page')
    assert.equal(openapiOf(app, { info }).paths['/both']?.['get']?.operationId, 'page')
    assert.deepEqual(Object.keys(checked(app).channels), ['socket'])
  })
})

describe('the plugin openapi', () => {
  test('it serves the AsyncAPI document, and the other one leads to it', async () => {
    const app = createApp({ signals: false })
    app.mount('/in', chatApp().register(openapi, { info }))
    const reply = await app.inject('/in/asyncapi.json')
    assert.equal(reply.status, 200)
    const document = reply.json() as ReturnType<typeof asyncapiOf>
    assert.ok(valid(document))
    assert.equal(document.channels['rooms.chat']?.address, '/in/chat/{room}')
    const { 'x-asyncapi': link } = (await app.inject('/in/openapi.json')).json() as Record<string, unknown>
    assert.equal(link, '/in/asyncapi.json')
    assert.match((await app.inject('/in/asyncapi.yaml')).text(), /^asyncapi: 3\.0\.0\n/)
    await app.close()
  })

  test('without WebSockets, and where it is not wanted, it is 404', async () => {
    const none = createApp({ signals: false }).register(openapi, { info })
    assert.equal((await none.inject('/asyncapi.json')).status, 404)
    assert.equal('x-asyncapi' in ((await none.inject('/openapi.json')).json() as object), false)
    await none.close()
    const off = chatApp().register(openapi, { info, asyncapi: false })
    assert.equal((await off.inject('/asyncapi.json')).status, 404)
    assert.equal('x-asyncapi' in ((await off.inject('/openapi.json')).json() as object), false)
    await off.close()
    assert.throws(() => chatApp().register(openapi, { info, asyncapi: 'x' }), { code: 'E_BAD_OPTION' })
  })
})
