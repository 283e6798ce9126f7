/** HTTPS and HTTP/2. `npx volant cert` writes the certificate, and SIGHUP makes the app read a new one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp, type TlsOptions } from 'volant'

export const app = createApp()

app.get('/', (ctx) => ({ http: ctx.httpVersion, protocol: ctx.protocol, tls: ctx.tls?.version }))

const folder = process.env.CERTIFICATES ?? '.cert'
const files = (): TlsOptions => ({
  cert: readFileSync(join(folder, 'cert.pem')),
  key: readFileSync(join(folder, 'key.pem')),
})

export const { url } = await app.listen({ port: Number(process.env.PORT ?? 8443), tls: files() })
console.log(`Listening on ${url}`)

process.on('SIGHUP', () => {
  try {
    app.setTls(files())
  } catch (error) {
    app.log.error(error, 'the old certificate stays')
  }
})
