/** connect-flash. */
import assert from 'node:assert/strict'
import type { Seen } from '../../src/client.ts'
import { flash } from '../../src/layers.ts'
import { scenarios } from '../../src/scenario.ts'
import { sessions } from '../../src/sessions.ts'
import { json } from '../../src/site.ts'
import { visit } from './kit.ts'

scenarios('connect-flash', {
  'messages that are read once': {
    build(site) {
      site.use(sessions().layer, flash())
      site.handle('GET', '/put', (req, res) => {
        req['flash']('info', 'one')
        req['flash']('info', 'two %s', 'words')
        req['flash']('error', ['a', 'b'])
        res.end(String(req['flash']('none').length))
      })
      site.reply('GET', '/take', (req) => json([req['flash']('info'), req['flash']()]))
    },
    async play(client) {
      const out = await visit(client, ['/put', '/take', '/take'])
      assert.match(JSON.stringify((out[1] as [string, Seen])[1].text), /two words/)
      return out
    },
  },
  'without a session': {
    reports: true,
    build(site) {
      site.use(flash())
      site.handle('GET', '/put', (req, res) => {
        req['flash']('info', 'one')
        res.end()
      })
    },
    play: (client) => visit(client, ['/put']),
  },
})
