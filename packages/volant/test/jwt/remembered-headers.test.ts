import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { verifyJwt } from 'volant/jwt'
import { holdClock, now, secret } from './random-tokens.ts'

test('a header is remembered once it was verified, and decides nothing for other options', async (t) => {
  holdClock(t)
  const options = { secret, algorithms: ['HS256'] } as const
  const headers = Array.from({ length: 100 }, (_, at) =>
    Buffer.from(`{"alg":"HS256","kid":"${at}"}`).toString('base64url'),
  )
  const payload = Buffer.from(`{"exp":${now + 60}}`).toString('base64url')
  for (const key of [secret, Buffer.alloc(64), secret]) {
    for (const header of headers) {
      const mac = createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url')
      const token = `${header}.${payload}.${mac}`
      if (key === secret) await verifyJwt(token, options)
      else await assert.rejects(verifyJwt(token, options), { reason: 'signature' })
      await assert.rejects(verifyJwt(token, { secret, algorithms: ['HS512'] }), { reason: 'algorithm' })
    }
  }
})
