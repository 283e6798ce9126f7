/** Behind a proxy only the proxy knows the client's address, and the host and protocol that the client used. */
import { createApp } from 'volant'

export const app = createApp({
  trustProxy: ['loopback', '10.0.0.0/8'], // the proxies, and nobody else
})

app.get('/', (ctx) => ({
  client: ctx.ip,
  hops: ctx.ips,
  link: `${ctx.protocol}://${ctx.host}/`,
}))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
