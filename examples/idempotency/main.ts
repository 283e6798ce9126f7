/** Payments that are made once, however often a client asks: it repeats a request with the same Idempotency-Key. */
import { createApp } from 'volant'
import { idempotency, memoryKeys } from 'volant/idempotency'

interface Payment {
  id: number
  cents: number
}

export const app = createApp()
const payments: Payment[] = []

// With several processes: store: redisKeys(client), of volant/redis.
const once = idempotency({ store: memoryKeys(), required: true, keepFor: '1 day' })

app.post('/payments', once, (ctx) => {
  const { cents } = ctx.body as { cents: number }
  const payment = { id: payments.length + 1, cents }
  payments.push(payment)
  ctx.status(201).header('location', `/payments/${payment.id}`)
  return payment
})

app.get('/payments', () => payments)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
