/** Headers keep browsers from being used against the site; a nonce lets one script run nevertheless. */
import { createApp, csp, requestId, securityHeaders } from 'volant'

export const app = createApp()

app.use(requestId()) // x-request-id, the same as ctx.id
app.use(securityHeaders())

app.get('/', () => 'everything from this site only')

const withScript = csp({ defaultSrc: ["'self'"], scriptSrc: ["'self'", "'nonce'"] })
app.get('/page', withScript, (ctx) => {
  ctx.html(
    `<!doctype html><p id="now"><script nonce="${ctx.state.nonce}">now.textContent = new Date()</script>`,
  )
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
