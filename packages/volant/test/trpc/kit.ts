/** One router of procedures of every kind, as an app serves it by the protocol of tRPC 11. */
import { TRPCError } from '@trpc/server'
import { turns } from '@volant/test-kit'
import { before, HTTPError } from 'volant'
import { procedure, router, tracked } from 'volant/procedures'
import { trpc, type TRPCOptions, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { deferred, Kit, type Live } from '../kit.ts'

export const Id = z.object({ id: z.string() })

export const User = z.object({ id: z.string(), name: z.string() })

/** Compiles only if both are the same type. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

export const same = <_T extends true>(): void => {}

export function api() {
  const released: string[] = []
  /** What is late comes when the case resolves this. */
  const late = deferred()
  const auth = before<{ user: string }>((ctx) => {
    const user = ctx.headers['x-user'] ?? ctx.headers['authorization']
    if (user === undefined) throw new HTTPError(401, 'who are you?')
    ctx.state.user = user
  })
  const tree = router({
    ping: procedure().query(() => 'pong'),
    nothing: procedure().query(() => {}),
    date: procedure().query(() => ({ at: new Date(0) })),
    cookie: procedure().query(({ ctx }) => {
      ctx.header('x-made-by', 'procedure').append('vary', 'x-user').cookie('seen', 'yes')
      return 1
    }),
    users: router({
      get: procedure()
        .input(Id)
        .output(User)
        .errors({ NO_USER: { status: 404, description: 'There is no such user', data: Id } })
        .query(async ({ input, ctx }) => {
          if (input.id === 'none') throw ctx.fail('NO_USER', { id: input.id })
          return { id: input.id, name: 'Ann' }
        }),
      add: procedure()
        .use(auth)
        .input(User)
        .mutation(({ input, ctx }) => ({ ...input, by: ctx.state.user })),
    }),
    secret: procedure().query(() => {
      throw new Error('the password is hunter2')
    }),
    theirs: procedure().query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'taken' })
    }),
    teapot: procedure().query(() => {
      throw new HTTPError(418, undefined, { headers: { 'retry-after': '5' } })
    }),
    big: procedure().query(() => 1n),
    broken: procedure()
      .output(User)
      .query(() => ({ id: 'hunter2', name: 7 }) as never),
    echo: procedure()
      .input(z.unknown())
      .query(({ input }) => ({ input })),
    later: procedure()
      .input(z.number())
      .query(async ({ input }) => {
        if (input > 1) await late.promise
        return input
      }),
    deferred: procedure().query(() => ({
      now: 1,
      later: late.promise.then(() => 2),
      failing: Promise.reject(new HTTPError(409, 'no')),
    })),
    numbers: procedure().query(async function* () {
      yield 1
      yield { nested: Promise.resolve(2) }
    }),
    upload: procedure().mutation(() => 1),
    form: procedure()
      .input(z.instanceof(FormData))
      .mutation(({ input }) => input.get('name')),
    size: procedure()
      .input(z.instanceof(ReadableStream))
      .mutation(async ({ input }) => {
        let length = 0
        for await (const chunk of input as ReadableStream<Uint8Array>) length += chunk.length
        return length
      }),
    ticks: procedure()
      .input(z.object({ from: z.number().default(0), lastEventId: z.string().optional() }).optional())
      .subscription(async function* ({ input, ctx }) {
        let at = Number(input?.lastEventId ?? input?.from ?? 0)
        try {
          while (!ctx.signal.aborted) {
            at += 1
            yield tracked(String(at), { at })
            if (at % 3 === 0) await aborted(ctx.signal)
            else await turns(1)
          }
        } finally {
          released.push(`ticks ${at}`)
        }
      }),
    three: procedure()
      .output(z.number())
      .subscription(async function* () {
        yield 1
        yield tracked('b', 2)
        yield 3
      }),
    refused: procedure()
      .errors({ FULL: { status: 429 } })
      .subscription(async function* ({ ctx }) {
        yield 1
        throw ctx.fail('FULL')
      }),
    quiet: procedure().subscription(async function* ({ ctx }) {
      yield ctx.connectionParams?.['token'] ?? 'none'
      await aborted(ctx.signal).catch(() => {})
      released.push('quiet')
    }),
  })
  return { tree, released, late }
}

/** Fails when the signal is aborted, as work does that heeds it. */
async function aborted(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted()
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

export type AppRouter = TRPCRouterOf<ReturnType<typeof api>['tree']>

export const kit = new Kit()

export async function served(
  run: (live: Live, url: string, released: string[], late: { resolve(): void }) => Promise<void>,
  options: TRPCOptions = {},
): Promise<void> {
  const { tree, released, late } = api()
  const app = kit.app()
  app.register(trpc(tree, options))
  await kit.serve(app, (live) => run(live, `${live.address.url}${options.prefix ?? '/trpc'}`, released, late))
}

export const get = (input: unknown) => `?input=${encodeURIComponent(JSON.stringify(input))}`
