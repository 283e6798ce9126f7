/** The check runs before the body is read, so a client without a token never sends its body. */
import { createApp, HTTPError } from 'volant'

export const app = createApp()

app.post(
  '/reports',
  {
    maxBodySize: 8_388_608,
    beforeBody(ctx) {
      // With `Expect: 100-continue` a client waits for this; others stop when they see the 401.
      if (ctx.headers.authorization !== 'Bearer secret') throw new HTTPError(401, 'A token is needed')
    },
  },
  (ctx) => ({ received: ctx.bodyBytes.length }),
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
