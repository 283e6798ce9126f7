/** Middlewares that are wrong, and requests that break off: each has a defined result, and nothing hangs or is lost. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import type { AppOptions } from 'volant'
import { type Client, requestBytes } from '../src/client.ts'
import { compression, type Handle, type Next, type Req, type Res, type Rescue } from '../src/layers.ts'
import { scenario, scenarios } from '../src/scenario.ts'
import { sessions } from '../src/sessions.ts'
import type { Site } from '../src/site.ts'
import { serveVolant, unloadable, volantSite } from '../src/volant-site.ts'

/** Handlers that Express answers with 500 or another status of an error, each with what it tries. */
const wrong: Record<string, Handle> = {
  'CR and LF in a value': (_, res) => {
    res.setHeader('X-One', 'a\r\nSet-Cookie: stolen=1')
    res.end('sent')
  },
  'LF in a value': (_, res) => res.setHeader('X-One', 'a\nb').end('sent'),
  'NUL in a value': (_, res) => res.setHeader('X-One', 'a\0b').end('sent'),
  'CR and LF in one of several values': (_, res) =>
    res.setHeader('X-One', ['a', 'b\r\nX-Two: c']).end('sent'),
  'CR and LF in a name': (_, res) => res.setHeader('X-One\r\nX-Two', 'a').end('sent'),
  'CR and LF in writeHead': (_, res) => res.writeHead(200, { 'X-One': 'a\r\nX-Two: b' }).end('sent'),
  'CR and LF in a list for writeHead': (_, res) => res.writeHead(200, ['X-One', 'a\r\nX-Two: b']).end('sent'),
  'CR and LF in appendHeader': (_, res) => res.appendHeader('X-One', 'a\r\nX-Two: b').end('sent'),
  'a value that is undefined': (_, res) => res.setHeader('X-One', undefined as never).end('sent'),
  'a name that is empty': (_, res) => res.setHeader('', 'a').end('sent'),
  'a status that is none': (_, res) => res.writeHead(99).end('sent'),
  'a status that is text': (_, res) => {
    res.statusCode = 'ok' as never
    res.end('sent')
  },
  'a chunk that is none': (_, res) => res.end({ a: 1 } as never),
  'a chunk that is null': (_, res) => void res.write(null as never),
  'a throw': () => {
    throw new Error('thrown')
  },
  'a throw of a status': () => {
    throw Object.assign(new Error('thrown'), { statusCode: 409 })
  },
  'a throw of text': () => {
    // oxlint-disable-next-line no-throw-literal -- middlewares do
    throw 'text'
  },
  'next with an error': (_req, _res, next) =>
    next(Object.assign(new Error('next'), { status: 422, headers: { 'X-Of-Error': 'yes' } })),
  'next with text': (_req, _res, next) => next('text'),
  'next with an error, later': (_req, _res, next) =>
    void setImmediate(next, Object.assign(new Error('later'), { status: 410 })),
  'a status out of range': (_req, _res, next) => next(Object.assign(new Error('range'), { status: 200 })),
  'a header set after the head': (_, res) => {
    res.write('part')
    assert.throws(() => res.setHeader('X-Late', 'a'), { code: 'ERR_HTTP_HEADERS_SENT' })
    assert.throws(() => res.writeHead(201), { code: 'ERR_HTTP_HEADERS_SENT' })
    res.end('sent')
  },
  'an end after the end': (_, res) => {
    res.end('sent')
    res.end()
  },
  'a status message with CR and LF': (_, res) => {
    res.statusMessage = 'fine\r\nX-Two: b'
    res.end('sent')
  },
}

scenarios(
  'wrong layers',
  Object.fromEntries(
    Object.entries(wrong).map(([name, handle]) => [
      name,
      scenario({
        reports: true,
        build(site) {
          site.handle('GET', '/connect', handle)
        },
        async play(client) {
          const { status, headers, text } = await client.get('/connect')
          assert.equal(headers['x-two'] ?? headers['x-one'], undefined)
          assert.equal(headers['set-cookie'], undefined)
          const fine = status < 400
          if (fine) assert.ok(text.endsWith('sent'))
          // What a status line may say is up to the server: the reason is not sent.
          return name.includes('status message') ? null : [fine, status, headers['x-of-error'] ?? null]
        },
      }),
    ]),
  ),
)

/** What is asked for after a fault. */
function fine(site: Site): void {
  site.reply('GET', '/fine', () => ({ body: 'fine' }))
}

const split = 'a\r\nX-Two: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
/** Is good when it is read the first times, as a check does, and not after that. */
const turning = (times: number): string =>
  ({ toString: () => (times-- > 0 ? 'good' : split) }) as unknown as string

/** Values of headers that change after they were checked: Node.js sends such a value, or breaks off. */
const changing: Record<string, Handle> = {
  'an array': (_, res) => {
    const values = ['good']
    res.setHeader('X-One', values)
    values[0] = split
    res.end('sent')
  },
  'an array that getHeader gave': (_, res) => {
    res.setHeader('X-One', ['good'])
    ;(res.getHeader('X-One') as string[])[0] = split
    res.end('sent')
  },
  'an array, before a handler': (_, res, next) => {
    const values = ['good']
    res.setHeader('X-One', values)
    values.push(split)
    next()
  },
  'an array of arrays': (_, res) => {
    const inner = ['good']
    res.setHeader('X-One', [inner] as never)
    inner[0] = split
    res.end('sent')
  },
  'an array that is read in another way twice': (_, res) => {
    let reads = 0
    class Turning extends Array<string> {
      override *[Symbol.iterator](): ArrayIterator<string> {
        yield reads++ === 0 ? 'good' : split
      }
    }
    res.setHeader('X-One', new Turning('good', 'good')).end('sent')
  },
  'a function': (_, res) => {
    let times = 1
    const value = Object.assign(() => {}, { toString: () => (times-- > 0 ? 'good' : split) })
    res.setHeader('X-One', value as never).end('sent')
  },
  'an object': (_, res) => res.setHeader('X-One', turning(1)).end('sent'),
  'an object in an array': (_, res) => res.setHeader('X-One', [turning(1)]).end('sent'),
  'an object for writeHead': (_, res) => res.writeHead(200, { 'X-One': turning(1) }).end('sent'),
  'an object for appendHeader': (_, res) => {
    res.appendHeader('X-One', turning(1))
    res.appendHeader('X-One', turning(1)).end('sent')
  },
  'an object as the type': (_, res) => res.setHeader('Content-Type', turning(1)).end('sent'),
}

for (const [name, handle] of Object.entries(changing)) {
  onEach(
    `a header whose value changes after the check: ${name}`,
    {},
    (site) => {
      site.reply('GET', '/changing', () => ({ body: 'sent' }), handle)
      fine(site)
    },
    async (client) => {
      const { status, headers, text } = await client.get('/changing')
      const value = headers['x-one'] ?? headers['content-type']
      assert.match(String(value), /^good/)
      assert.deepEqual([status, text, headers['x-two']], [200, 'sent', undefined])
    },
  )
}

onEach(
  'headers that are too long for any adapter',
  {},
  (site) => {
    fine(site)
    const long = 'v'.repeat(65_536)
    site.handle('GET', '/value', (_, res) => res.setHeader('X-One', long).end('sent'))
    site.handle('GET', '/values', (_, res) => res.setHeader('X-One', ['a', long]).end('sent'))
    site.handle('GET', '/name', (_, res) => res.setHeader(long, 'a').end('sent'))
  },
  async (client, reports) => {
    for (const path of ['/value', '/values', '/name']) {
      assert.equal((await client.get(path)).status, 500, path)
      const { code } = reports.pop() as { code?: string }
      assert.equal(code, 'E_BAD_HEADER', path)
    }
  },
)

const odd = (): never => {
  throw new Error('odd')
}

/** Errors whose properties cannot be read: what they throw must not end the process. */
onEach(
  'errors that throw where they are read',
  {},
  (site) => {
    fine(site)
    const given: unknown[] = [
      Object.defineProperty({}, 'status', { get: odd }),
      Object.defineProperty({ status: 400 }, 'message', { get: odd }),
      { status: 400, headers: { 'x-one': { toString: odd } } },
      new Proxy({}, { get: odd }),
    ]
    given.forEach((error, at) => {
      site.handle('GET', `/${at}`, (_req, _res, next) => next(error))
      site.handle('GET', `/${at}/later`, (_req, _res, next) => void setImmediate(next, error))
    })
  },
  async (client, reports) => {
    for (let at = 0; at < 4; at++) {
      for (const path of [`/${at}`, `/${at}/later`]) {
        assert.equal((await client.get(path)).status, 500, path)
        assert.deepEqual(reports.splice(0).map(String), ['Error: odd'], path)
      }
    }
  },
)

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

onEach(
  'a status from 600 on, as a proxy passes it on from an event',
  {},
  (site) => {
    fine(site)
    site.handle('GET', '/parts', (_, res) => {
      res.statusCode = 999
      setImmediate(() => {
        res.write('se')
        res.end('nt')
      })
    })
    site.handle('GET', '/whole', (_, res) => void setImmediate(() => res.writeHead(600).end('sent')))
  },
  async (client, reports) => {
    for (const path of ['/parts', '/whole']) {
      const { status, text } = await client.get(path)
      assert.deepEqual([status, text], [500, 'sent'])
      assert.deepEqual(
        reports.splice(0).map((error) => (error as { code?: string }).code),
        ['E_BAD_STATUS'],
      )
    }
  },
)

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

onEach(
  'a Content-Length that is none',
  {},
  (site) => {
    fine(site)
    const given = ['', '0x10', '1e3', '-5', '+5', '5, 5', '99999999999999999999', 'NaN']
    given.forEach((length, at) =>
      site.handle('GET', `/${at}`, (_, res) => {
        res.setHeader('Content-Length', length)
        res.write('hel')
        res.end('lo')
      }),
    )
  },
  async (client) => {
    for (let at = 0; at < 8; at++) assert.equal((await client.get(`/${at}`)).text, 'hello')
  },
)

/** What has another result than in Express: each adapter has the same. */
function onEach(
  name: string,
  options: AppOptions,
  build: (site: Site) => unknown,
  play: (client: Client, reports: unknown[]) => Promise<void>,
): void {
  for (const adapter of ['native', 'node-http', 'uwebsockets'] as const) {
    test(`${name}: ${adapter}`, { skip: unloadable(adapter) ?? false }, async () => {
      const site = volantSite(adapter, options)
      await build(site)
      const live = await serveVolant(site)
      try {
        await play(live.client, site.reports)
        // The server still answers.
        assert.equal((await live.client.get('/fine')).text, 'fine')
      } finally {
        await live.close()
      }
    })
  }
}

const codes = (reports: unknown[]): unknown[] =>
  reports.map((error) => (error as { code?: string }).code ?? String(error))

function withFine(build: (site: Site) => void): (site: Site) => void {
  return (site) => {
    site.reply('GET', '/fine', () => ({ body: 'fine' }))
    build(site)
  }
}

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

describe('an error within a reply', () => {
  const breaks: Record<string, Handle> = {
    'that is passed on': (_req, res, next) => {
      res.write('a part')
      setImmediate(next, new Error('within'))
    },
    'that is thrown': (_req, res) => {
      res.write('a part')
      throw new Error('within')
    },
    'of a promise': async (_req, res) => {
      res.write('a part')
      throw new Error('within')
    },
  }
  for (const [name, handle] of Object.entries(breaks)) {
    onEach(
      `${name} resets the connection and is reported`,
      {},
      withFine((site) => site.handle('GET', '/x', handle)),
      async (client, reports) => {
        const wire = await client.connect()
        wire.send(requestBytes('GET', '/x'))
        await eventually(() => wire.isEnded, 'the end of the connection')
        assert.ok(!wire.received.includes('0\r\n\r\n'), 'the reply has no end')
        assert.deepEqual(codes(reports), ['Error: within'])
      },
    )
  }
})

describe('what cannot be supported says so', () => {
  const uses: Record<string, (req: Req, res: Res) => unknown> = {
    'res.assignSocket': (_req, res) => res.assignSocket(null as never),
    'res.writeContinue': (_req, res) => res.writeContinue(),
    'res.writeProcessing': (_req, res) => res.writeProcessing(),
    'res.writeHead': (_req, res) => res.writeHead(103),
    'socket.write': (req) => req.socket.write('bytes'),
    'socket.end': (req) => req.socket.end(),
    'socket.pipe': (req) => req.socket.pipe(null as never),
  }
  onEach(
    'by name',
    {},
    withFine((site) => {
      for (const [name, use] of Object.entries(uses)) {
        site.handle('GET', `/${name}`, (req, res) => {
          use(req, res)
          res.end('sent')
        })
      }
    }),
    async (client, reports) => {
      for (const name of Object.keys(uses)) {
        assert.equal((await client.get(`/${name}`)).status, 500, name)
        const error = reports.at(-1) as { code: string; message: string }
        assert.equal(error.code, 'E_CONNECT_UNSUPPORTED', name)
        assert.ok(error.message.includes(name), error.message)
      }
    },
  )
})

describe('a declared length', () => {
  for (const [name, body] of [
    ['that is too short', 'much longer than declared'],
    ['that is too long', 'x'],
  ] as const) {
    onEach(
      name,
      {},
      withFine((site) => {
        site.handle('GET', '/x', (_, res) => {
          res.setHeader('Content-Length', 10)
          res.write(body)
          res.end()
        })
      }),
      async (client) => {
        const wire = await client.connect()
        wire.send(requestBytes('GET', '/x') + requestBytes('GET', '/fine').toString())
        // No byte of this reply is taken for a part of the next: the connection ends.
        await eventually(() => wire.isEnded, 'the end of the connection')
        const [, sent = ''] = wire.received.toString().split('\r\n\r\n')
        assert.ok(sent.length <= 10, sent)
        assert.ok(!wire.received.toString().includes('fine'))
      },
    )
  }
})

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
        const timer = setInterval(() => res.write('more'), 1)
        res.on('close', () => clearInterval(timer))
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
