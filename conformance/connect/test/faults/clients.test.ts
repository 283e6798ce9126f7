/** Clients that leave: nothing hangs or is lost. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { eventually } from '@volant/test-kit'
import { requestBytes } from '../../src/client.ts'
import { compression, type Next, type Req, type Res } from '../../src/layers.ts'
import { sessions } from '../../src/sessions.ts'
import { fine, onEach, withFine } from './kit.ts'

const left: string[] = []

onEach(
  'a client that leaves an event stream that is silent',
  {},
  (site) => {
    fine(site)
    site.handle('GET', '/events', (req, res) => {
      res.on('close', () => left.push('res'))
      req.on('close', () => left.push('req'))
      res.write('data: 1\n\n')
    })
  },
  async (client, reports) => {
    left.length = 0
    const wire = await client.connect()
    wire.send(requestBytes('GET', '/events'))
    await eventually(() => wire.received.includes('data: 1'), 'the event')
    wire.socket.end()
    await eventually(() => left.length === 2, 'both to be closed')
    assert.deepEqual(left.toSorted(), ['req', 'res'])
    assert.deepEqual(reports, [])
  },
)

describe('clients that leave', () => {
  const seen = { begun: 0, closed: 0 }
  onEach(
    'at each step of a stack leave nothing behind',
    {},
    withFine((site) => {
      Object.assign(seen, { begun: 0, closed: 0 })
      const { layer } = sessions({ saveUninitialized: true })
      site.use(
        (_req: Req, res: Res, next: Next) => {
          seen.begun++
          res.on('close', () => seen.closed++)
          next()
        },
        layer,
        compression({ threshold: 0 }),
      )
      site.handle('GET', '/slow', (req, res) => {
        req['session'].a = 1
        res.write('one')
        let left = false
        res.on('close', () => (left = true))
        const more = (): void => {
          if (left) return
          res.write('more')
          setImmediate(more)
        }
        more()
      })
      site.handle('GET', '/never', () => {})
    }),
    async (client, reports) => {
      for (const path of ['/never', '/slow']) {
        for (let at = 0; at < 20; at++) {
          const { begun } = seen
          const wire = await client.connect()
          wire.send(requestBytes('GET', path, { 'accept-encoding': at % 2 === 0 ? 'gzip' : 'identity' }))
          await eventually(() => seen.begun > begun, 'the request')
          if (at % 4 > 1 && path === '/slow') await eventually(() => wire.received.length > 0, 'the head')
          wire.reset()
        }
      }
      await eventually(() => seen.closed === 40, 'all are told')
      assert.deepEqual(reports, [])
    },
  )
})
