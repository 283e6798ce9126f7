import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { createClient, type ClientOptions } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import { createSocketServer } from 'volant/ws'
import WebSocket from 'ws'
import { deferred, eventually, type Kit, type Live, unchanging, within } from '../../kit.ts'
import { patience, socketUrl } from './clients.ts'

const ignored = { next: () => {}, error: () => {}, complete: () => {} }

/** graphql-ws runs on `app.ws`, with its own client. */
export function graphqlOverSockets(kit: Kit): void {
  describe('graphql-ws', () => {
    async function serve(run: (live: Live, seen: Seen) => Promise<void>): Promise<void> {
      const seen: Seen = { ended: 0, made: 0 }
      const app = kit.app()
      const sockets = createSocketServer<{ user: string }>()
      app.ws('/graphql', {
        ...sockets.hooks,
        protocols: ['graphql-transport-ws'],
        upgrade: (ctx) => sockets.upgrade(ctx, { user: String(ctx.query['user'] ?? 'nobody') }),
      })
      useServer(
        {
          schema: graphqlSchema(seen),
          connectionInitWaitTimeout: patience,
          onConnect: ({ connectionParams }) => connectionParams?.['key'] !== 'wrong',
          context: ({ extra }) => sockets.dataOf(extra.socket),
        },
        sockets,
      )
      await kit.serve(app, (live) => run(live, seen))
    }
    const clientOf = (live: Live, options: Partial<ClientOptions> = {}) =>
      createClient({
        url: socketUrl(live, '/graphql?user=Ada'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        ...options,
      })

    test('a query, with the data of the upgrade', async () => {
      await serve(async (live) => {
        const client = clientOf(live)
        const results = await within(all(client.iterate({ query: '{ user }' })), 'the result')
        assert.deepEqual(JSON.parse(JSON.stringify(results)), [{ data: { user: 'Ada' } }])
        await client.dispose()
      })
    })

    test('a subscription gives all its values, and two go side by side', async () => {
      await serve(async (live) => {
        const client = clientOf(live)
        const query = 'subscription ($to: Int!) { count(to: $to) }'
        const runs = [3, 500].map((to) => all(client.iterate({ query, variables: { to } })))
        const counts = await within(Promise.all(runs), 'the subscriptions')
        assert.deepEqual(
          counts.map((run) => run.map(({ data }) => data?.['count'])),
          [3, 500].map((to) => Array.from({ length: to }, (_, at) => at + 1)),
        )
        await client.dispose()
      })
    })

    test('a subscription ends where its client stops it, and where it leaves', async () => {
      await serve(async (live, seen) => {
        const client = clientOf(live)
        const opened = deferred<void>()
        client.on('message', ({ type }) => {
          if (type === 'connection_ack') opened.resolve()
        })
        const stop = client.subscribe({ query: 'subscription { quiet }' }, ignored)
        await within(opened.promise, 'the connection')
        // Its reply says that the subscription before it has begun.
        await all(client.iterate({ query: '{ user }' }))
        stop()
        await eventually(() => seen.ended === 1, 'the end of the stopped one')
        client.subscribe({ query: 'subscription { quiet }' }, ignored)
        await all(client.iterate({ query: '{ user }' }))
        client.terminate()
        await eventually(() => seen.ended === 2, 'the end of the one whose client left')
      })
    })

    test('connectionParams that are refused close with 4403', async () => {
      await serve(async (live) => {
        const closed = deferred<{ code: number; reason: string }>()
        const client = clientOf(live, { connectionParams: { key: 'wrong' } })
        client.on('closed', (event) => closed.resolve(event as { code: number; reason: string }))
        await assert.rejects(all(client.iterate({ query: '{ user }' })))
        const { code, reason } = await within(closed.promise, 'the close')
        assert.deepEqual([code, reason], [4403, 'Forbidden'])
      })
    })

    test('a client without the subprotocol is closed with 4406', async () => {
      await serve(async (live) => {
        const socket = new WebSocket(socketUrl(live, '/graphql'))
        const closed = deferred<number>()
        socket.on('close', (code) => closed.resolve(code))
        assert.equal(await within(closed.promise, 'the close'), 4406)
      })
    })

    test('a client that does not read slows the subscription down', async () => {
      await serve(async (live, seen) => {
        const socket = new WebSocket(socketUrl(live, '/graphql'), 'graphql-transport-ws')
        socket.on('open', () => socket.send('{"type":"connection_init"}'))
        // The acknowledgement comes first.
        socket.once('message', () => {
          socket.pause()
          socket.send('{"id":"1","type":"subscribe","payload":{"query":"subscription { much }"}}')
        })
        await eventually(() => seen.made > 1, 'the first values')
        await unchanging(() => seen.made, 'the subscription waits')
        assert.ok(seen.made < 1_500, `${seen.made} values`)
        socket.terminate()
        await eventually(() => seen.ended === 1, 'the end of the subscription')
      })
    })

    test('the close of the app is 1001 for the client', async () => {
      const codes: number[] = []
      await serve(async (live) => {
        const client = clientOf(live)
        client.on('closed', (event) => codes.push((event as { code: number }).code))
        const failed = assert.rejects(all(client.iterate({ query: 'subscription { quiet }' })))
        await all(client.iterate({ query: '{ user }' }))
        await live.app.close()
        await within(failed, 'the end of the subscription')
      })
      assert.deepEqual(codes, [1001])
    })
  })
}

/** The resolvers of the schema note here what they have done. */
interface Seen {
  ended: number
  made: number
}

function graphqlSchema(seen: Seen): GraphQLSchema {
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        user: { type: GraphQLString, resolve: (_, __, context: { user?: string }) => context.user },
      },
    }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: {
        count: {
          type: new GraphQLNonNull(GraphQLInt),
          args: { to: { type: new GraphQLNonNull(GraphQLInt) } },
          async *subscribe(_, { to }: { to: number }) {
            for (let count = 1; count <= to; count++) yield { count }
          },
        },
        much: {
          type: GraphQLString,
          async *subscribe() {
            try {
              for (;;) {
                seen.made++
                yield { much: 'x'.repeat(65_536) }
              }
            } finally {
              seen.ended++
            }
          },
        },
        quiet: {
          type: GraphQLInt,
          subscribe: () => {
            let end: (result: IteratorResult<unknown>) => void = () => {}
            const result = new Promise<IteratorResult<unknown>>((resolve) => {
              end = resolve
            })
            const stop = () => {
              seen.ended++
              end({ done: true, value: undefined })
              return Promise.resolve<IteratorResult<unknown>>({ done: true, value: undefined })
            }
            return { next: () => result, return: stop, [Symbol.asyncIterator]: iteratorItself }
          },
        },
      },
    }),
  })
}

function iteratorItself<T>(this: T): T {
  return this
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = []
  for await (const value of iterable) values.push(value)
  return values
}
