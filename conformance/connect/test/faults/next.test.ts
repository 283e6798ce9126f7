/** `next` called twice, late, never, or very often: each has a defined result. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { eventually } from '@volant/test-kit'
import { type Handle, type Next, type Req, type Res, type Rescue } from '../../src/layers.ts'
import { fine, onEach, codes, withFine } from './kit.ts'

onEach(
  'ten thousand middlewares that call next at once',
  {},
  (site) => {
    fine(site)
    const many = <T>(one: T): T[] => Array.from({ length: 10_000 }, () => one)
    const steps = many<Handle>((_req, _res, next) => next())
    const rescues = many<Rescue>((error, _req, _res, next) => next(error))
    const failing: Handle = (_req, _res, next) => next(Object.assign(new Error('first'), { status: 410 }))
    site.reply('GET', '/steps', () => ({ body: 'reached' }), steps as never)
    site.handle('GET', '/rescues', [failing, ...rescues] as never)
  },
  async (client) => {
    assert.equal((await client.get('/steps')).text, 'reached')
    assert.equal((await client.get('/rescues')).status, 410)
  },
)

describe('next', () => {
  onEach(
    'twice: the first call counts, the second is reported',
    {},
    withFine((site) => {
      site.handle(
        'GET',
        '/x',
        (_req, _res, next) => {
          next()
          next()
        },
        (_, res) => res.end('once'),
      )
      site.reply(
        'GET',
        '/own',
        () => ({ body: 'once' }),
        (_req, _res, next) => {
          next()
          setImmediate(next)
        },
      )
    }),
    async (client, reports) => {
      assert.equal((await client.get('/x')).text, 'once')
      assert.equal((await client.get('/own')).text, 'once')
      await eventually(() => reports.length === 2, 'both are reported')
      assert.deepEqual(codes(reports), ['E_NEXT_TWICE', 'E_NEXT_TWICE'])
    },
  )
  onEach(
    'after the reply: the reply stands',
    {},
    withFine((site) => {
      site.handle(
        'GET',
        '/x',
        (_req, res, next) => {
          res.end('mine')
          next()
        },
        (_, res) => res.end('not this'),
      )
    }),
    async (client, reports) => {
      assert.equal((await client.get('/x')).text, 'mine')
      assert.deepEqual(codes(reports), ['E_NEXT_LATE'])
    },
  )
  onEach(
    'with an error after the reply: it is reported',
    {},
    withFine((site) => {
      site.handle('GET', '/x', (_req, res, next) => {
        res.end('mine')
        setImmediate(next, new Error('late'))
      })
    }),
    async (client, reports) => {
      assert.equal((await client.get('/x')).text, 'mine')
      await eventually(() => reports.length > 0, 'it is reported')
      assert.deepEqual(codes(reports), ['Error: late'])
    },
  )
  onEach(
    'never: handlerTimeout answers, and a call after it changes nothing',
    { limits: { handlerTimeout: 100 } },
    withFine((site) => {
      const late: Next[] = []
      site.use((req: Req, _res: Res, next: Next) => {
        if (req.url === '/x') late.push(next)
        else if (req.url === '/late') {
          for (const each of late) each()
          next()
        } else next()
      })
      site.reply('GET', '/x', () => ({ body: 'too late' }))
      site.reply('GET', '/late', () => ({ body: 'called' }))
    }),
    async (client) => {
      assert.equal((await client.get('/x')).status, 503)
      assert.equal((await client.get('/late')).text, 'called')
    },
  )
  onEach(
    'a reply after another reply is dropped and reported',
    {},
    withFine((site) => {
      site.reply(
        'GET',
        '/x',
        () => ({ body: 'own' }),
        (_req, res, next) => {
          next()
          setImmediate(() => res.end('second'))
        },
      )
    }),
    async (client, reports) => {
      assert.equal((await client.get('/x')).text, 'own')
      await eventually(() => reports.length > 0, 'it is reported')
      assert.equal(reports.length, 1)
    },
  )
  onEach(
    'a handler that rejects, before and after its reply',
    {},
    withFine((site) => {
      site.handle('GET', '/before', async () => {
        throw Object.assign(new Error('rejected'), { status: 418 })
      })
      site.handle('GET', '/undefined', async () => {
        // oxlint-disable-next-line no-throw-literal -- middlewares do; Express goes on as if nothing were wrong
        throw undefined
      })
      site.handle('GET', '/after', async (_, res) => {
        res.end('sent')
        throw new Error('rejected after')
      })
    }),
    async (client, reports) => {
      assert.equal((await client.get('/before')).status, 418)
      assert.equal((await client.get('/undefined')).status, 500)
      assert.equal((await client.get('/after')).text, 'sent')
      await eventually(() => codes(reports).includes('Error: rejected after'), 'it is reported')
    },
  )
  onEach(
    'an error middleware that throws, and one that passes on',
    {},
    withFine((site) => {
      const pass: Rescue = (error, _req, _res, next) => next(error)
      const thrower: Rescue = (error, _req, _res, _next) => {
        throw Object.assign(new Error(`from ${error.message}`), { status: 409 })
      }
      site.use(pass, thrower)
      site.handle('GET', '/x', () => {
        throw new Error('first')
      })
    }),
    async (client) => {
      assert.equal((await client.get('/x')).status, 409)
    },
  )
})
