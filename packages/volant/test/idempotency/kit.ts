/** What cases about Idempotency-Key share: an app that counts how often its handlers run, and how it is asked. */
import { type IdempotencyOptions, idempotency, memoryKeys } from 'volant/idempotency'
import { type App } from '../../src/index.ts'
import { Kit, type Live, type Reply } from '../kit.ts'

export const kit = new Kit()

/** An app that counts how often its handlers run. */
export function counting(options: Partial<IdempotencyOptions> = {}, build: (app: App) => void = () => {}) {
  const app = kit.app()
  const runs = { count: 0 }
  app.use(idempotency({ store: memoryKeys(), ...options }))
  app.post('/pay', (ctx) => {
    runs.count++
    ctx.status(201).header('location', `/payments/${runs.count}`).append('x-two', 'a').append('x-two', 'b')
    return { payment: runs.count, got: ctx.body }
  })
  build(app)
  return Object.assign(app, { runs })
}

export const pay = (
  live: Live,
  key: string | null,
  body = '{"cents":5}',
  headers: Record<string, string> = {},
): Promise<Reply> =>
  live.ask('/pay', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    body,
  })

/** The status of a refusal, and its code. */
export const codeOf = (reply: Reply): [number, unknown] => [
  reply.status,
  (reply.json() as { code: unknown }).code,
]
