import type { Proof, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'
import { health } from './veloxts.ts'

const id = '550e8400-e29b-41d4-a716-446655440002'
const input = (value: unknown): string => encodeURIComponent(JSON.stringify(value))
const ofUser = `/trpc/users.getUser?input=${input({ id })}`
const userReply = `{"result":{"data":{"id":"${id}","name":"Bob Smith","email":"bob@example.com","createdAt":"2024-01-15T10:30:00.000Z","updatedAt":"2024-01-15T10:30:00.000Z"}}}`
const healthReply =
  /\{"result":\{"data":\{"status":"ok","version":"1\.0\.0","timestamp":"[^"]+Z","uptime":[\d.]+\}\}\}/

export const ofHealth = get('/trpc/health.getHealth', null, { expect: health.expect })

/** s: on Node.js 20, @trpc/server answers a third as much in its first two seconds as afterwards. */
export const trpcWarmup = 3

/** Of tRPC's protocol, of which only single calls are measured. */
export const trpcProofs: readonly Proof[] = [
  { path: '/trpc/health.getHealth', status: 200, reply: new RegExp(`^${healthReply.source}$`) },
  { path: ofUser, status: 200, reply: userReply },
  { path: `/trpc/users.getUser?input=${input({ id: 'x' })}`, status: 400, reply: /"code":-32600/ },
  { path: '/trpc/users.getUser', status: 400, reply: /"code":-32600/ },
  { path: '/trpc/users.getUser?input=%7B', status: 400, reply: /"code":-32600/ },
  { path: '/trpc/health.getNothing', status: 404, reply: /"code":-32004/ },
  {
    method: 'POST',
    path: '/trpc/health.getHealth',
    headers: { 'content-type': 'application/json' },
    status: 405,
    reply: /"code":-32005/,
  },
  {
    path: `/trpc/health.getHealth,users.getUser?batch=1&input=${input({ 1: { id } })}`,
    status: 200,
    reply: new RegExp(`^\\[${healthReply.source},${userReply.replaceAll(/[{}.]/g, '\\$&')}\\]$`),
  },
]

const variant = (name: string, request: ReturnType<typeof get>): Variant => ({
  name,
  lane: 'plain',
  measure: { kind: 'load', load: load(request, { warmup: trpcWarmup }) },
})

/** VeloxTS's query, and one with an input, whose procedures check what comes and what goes by Zod. */
export const trpcQuery: Scenario = {
  name: 'trpc-query',
  title: 'A tRPC query',
  about:
    'GET /trpc/health.getHealth, and GET /trpc/users.getUser with an id; inputs and outputs are checked.',
  document: null,
  program: 'trpc',
  headline: 'cpu',
  variants: [variant('health', ofHealth), variant('input', get(ofUser, userReply))],
  proofs: trpcProofs,
}
