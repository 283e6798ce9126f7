/**
 * Certificates of Let’s Encrypt or another ACME authority: certbot gets and renews them, and the app loads each new one
 * while it runs.
 */
import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApp } from 'volant'

const domain = process.env.DOMAIN ?? 'example.com'
const folder = process.env.CERTIFICATES ?? `/etc/letsencrypt/live/${domain}` // certbot puts them there
const port = Number(process.env.PORT ?? 443)
const webroot = process.env.WEBROOT ?? '/var/lib/acme' // certbot gets it as --webroot-path

/**
 * Serves the file that certbot leaves for the authority at port 80 (RFC 8555 §8.3). Other requests are redirected to
 * HTTPS.
 */
const plain = createApp()
const challenges = join(webroot, '.well-known/acme-challenge')
mkdirSync(challenges, { recursive: true })
plain.static('/.well-known/acme-challenge', challenges)
plain.get('/*', (ctx) => ctx.redirect(`https://${domain}${ctx.url}`, 308))
await plain.listen(Number(process.env.HTTP_PORT ?? 80))

const app = createApp()
app.get('/', (ctx) => `Hello by ${ctx.protocol}`)

// The app looks every ten seconds, and at once at SIGHUP: `certbot renew --deploy-hook 'systemctl reload app'`.
setInterval(look, 10_000).unref()
process.on('SIGHUP', look)
let used: Buffer | null = null
await look()

/** The authority needs its answer at port 80 before there is a certificate, so port 443 opens once there is one. */
async function look(): Promise<void> {
  try {
    const [cert, key] = await Promise.all([
      readFile(join(folder, 'fullchain.pem')),
      readFile(join(folder, 'privkey.pem')),
    ])
    if (used?.equals(cert)) return
    if (used === null) console.log(`Listening on ${(await app.listen({ port, tls: { cert, key } })).url}`)
    else app.setTls({ cert, key }) // connections that are open stay as they are
    used = cert
    console.log('The certificate is in use')
  } catch (error) {
    // While certbot replaces the two files, they may not match. `setTls` refuses them, and the next look finds both.
    console.error(`No other certificate: ${(error as Error).message}`)
  }
}
