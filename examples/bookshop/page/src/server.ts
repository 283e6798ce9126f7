/** Serves the page from an origin of its own, as a CDN would. It talks to the shop by the typed client alone. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApp, csp, securityHeaders } from 'volant'
import { compress } from 'volant/compress'

const { API = 'http://localhost:3000', HOST, PORT = '3001', TIMEOUT = '10000' } = process.env
const folder = fileURLToPath(new URL('../public', import.meta.url))
const [, map = ''] = /importmap">(.*?)<\/script>/s.exec(readFileSync(`${folder}/index.html`, 'utf8')) ?? []
const importMap = `'sha256-${createHash('sha256').update(map).digest('base64')}'` as const

export const app = createApp()
const policy = {
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'", importMap],
  connectSrc: ["'self'", API],
  imgSrc: [API],
}
app.use(securityHeaders(), csp(policy), compress())
app.get('/settings.json', () => ({ api: API, timeout: Number(TIMEOUT) }))
app.static('/dist', dirname(fileURLToPath(import.meta.url)))
app.static('/volant', fileURLToPath(new URL('..', import.meta.resolve('volant/client')))) // see importmap
app.static('/', folder)

export const { url } = await app.listen(Number(PORT), HOST)
console.log(`The page is at ${url}`)
