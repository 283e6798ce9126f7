/** cookie-parser. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type Seen } from '../../src/client.ts'
import { cookieParser, type Handle } from '../../src/layers.ts'
import { json } from '../../src/site.ts'
import { scenarios } from '../../src/scenario.ts'

const cookies: Handle = (req, res) =>
  res.end(JSON.stringify([req['cookies'], req['signedCookies'], req['secret']]))

scenarios('cookie-parser', {
  'plain, signed, and JSON cookies': {
    build(site) {
      site.use(cookieParser(['new secret', 'secret']))
      site.handle('GET', '/connect', cookies)
      site.reply('GET', '/own', (req) => json([req['cookies'], req['signedCookies']]))
    },
    async play(client) {
      const mac = createHmac('sha256', 'secret').update('tobi').digest('base64').replace(/=+$/, '')
      const signed = `s%3Atobi.${encodeURIComponent(mac)}`
      const cookie = `a=1; b=%7B; c="q"; j=j%3A%7B%22x%22%3A1%7D; s=${signed}; t=s%3Aforged.AAAA; a=2; __proto__=x`
      const out: Seen[] = []
      for (const path of ['/connect', '/own'])
        out.push(await client.get(path, { cookie }), await client.get(path))
      assert.match(out[0]?.text ?? '', /tobi/)
      assert.match(out[0]?.text ?? '', /"j":\{"x":1\}/)
      return out
    },
  },
  'twice, the second idle': {
    build(site) {
      site.use(cookieParser('one'), cookieParser('two'))
      site.handle('GET', '/connect', cookies)
    },
    play: (client) => client.get('/connect', { cookie: 'a=b' }),
  },
})
