/** A signed cookie can be read by the browser, a sealed one only here; nobody else can change either of them. */
import { createApp, HTTPError } from 'volant'
import { sealedCookie, signedCookie } from 'volant/session'

// In this order while a key is replaced: the new one, then the old one. "openssl rand -base64 32" makes a key.
const keys = (process.env.COOKIE_KEYS ?? 'only an example: never use this key').split(',')

const group = signedCookie('group', { keys, maxAge: 30 * 86_400, httpOnly: false })
const address = sealedCookie('address', { keys, path: '/order', maxAge: 3_600 })

export const app = createApp()

app.get('/', (ctx) => {
  const chosen = group.get(ctx) ?? (Math.random() < 0.5 ? 'a' : 'b')
  group.set(ctx, chosen)
  return { group: chosen }
})
app.post('/order/address', (ctx) => {
  address.set(ctx, ctx.bodyText)
  ctx.reply(204)
})
app.post('/order', (ctx) => {
  const sendTo = address.get(ctx)
  if (sendTo === undefined) throw new HTTPError(409, 'Give an address first')
  address.clear(ctx)
  return { sendTo }
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
