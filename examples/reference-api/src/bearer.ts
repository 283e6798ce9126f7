import { timingSafeEqual } from 'node:crypto'
import { before } from 'volant'

/** Lets a request through that carries `Authorization: Bearer <token>` (RFC 6750 §2.1). Throws for an empty token. */
export function bearer(token: string) {
  // It would be equal to what a request without the header gives.
  if (token === '') throw new Error('bearer: the token is empty')
  const expected = Buffer.from(token)
  return before(
    {
      errors: { UNAUTHORIZED: { status: 401, description: 'A bearer token is needed' } },
      security: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    (ctx) => {
      const given = Buffer.from(/^bearer +(.+)$/i.exec(ctx.headers.authorization ?? '')?.[1] ?? '')
      // Compared in constant time, so that the reply's timing does not tell how much of a guess was right.
      if (given.length === expected.length && timingSafeEqual(given, expected)) return
      ctx.header('www-authenticate', 'Bearer')
      throw ctx.fail('UNAUTHORIZED')
    },
  )
}
