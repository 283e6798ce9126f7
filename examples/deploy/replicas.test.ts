/** Two replicas that share a Redis, behind HAProxy with the file of the example: as compose.yaml has them. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  eventually,
  freePort,
  Haproxy,
  RedisServer,
  within,
  withoutHaproxy,
  withoutRedis,
} from '@volant/test-kit'
import { WebSocket } from 'ws'
import { fileOf, startArguments } from './deployed.ts'

const asClient =
  '  http-request set-header X-Forwarded-For %[req.hdr(test-client)] if { req.hdr(test-client) -m found }\n'

interface Reply {
  status: number
  body: { user: string; visits?: number; replica: string }
  cookie: string
}

/** The service as the image runs it, with its supervisor. */
class Replica {
  readonly port: number
  readonly control: number
  readonly #name: string
  readonly #redis: number
  #process: ChildProcess | null = null

  static async make(name: string, redis: number): Promise<Replica> {
    return new Replica(name, await freePort(), await freePort(), redis)
  }

  private constructor(name: string, port: number, control: number, redis: number) {
    this.#name = name
    this.port = port
    this.control = control
    this.#redis = redis
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, startArguments(this.control), {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(this.port),
        REDIS_URL: `redis://127.0.0.1:${this.#redis}`,
        REPLICA: this.#name,
        // A machine that is busy may not answer within the defaults.
        STORE_TIMEOUT: '20000',
      },
    })
    this.#process = child
    await eventually(async () => {
      assert.ok(child.exitCode === null && child.signalCode === null, `${this.#name} ended`)
      return (await statusOf(this.port, '/ready')) === 200
    }, `${this.#name} is ready`)
  }

  /** Has it stop by SIGTERM, and gives its exit code. */
  async stop(): Promise<unknown> {
    const child = this.#process as ChildProcess
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    return (await within(exit, `the stop of ${this.#name}`))[0]
  }

  /** Has it end now: a second signal ends its workers at once. */
  async end(): Promise<void> {
    const child = this.#process
    if (child === null) return
    await eventually(
      () => {
        if (child.exitCode !== null || child.signalCode !== null) return true
        child.kill('SIGTERM')
        return false
      },
      `${this.#name} ends`,
      50,
    )
  }
}

/** The status of a reply by a new connection; null where nobody answers. */
function statusOf(port: number, path: string): Promise<number | null> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).then(
    ({ status }) => status,
    () => null,
  )
}

describe('two replicas behind HAProxy', { skip: withoutRedis || withoutHaproxy }, () => {
  let redis: RedisServer
  let proxy: Haproxy
  let app1: Replica
  let app2: Replica
  let origin: string
  const end = async (): Promise<void> => {
    await Promise.all([app1?.end(), app2?.end()])
    await proxy?.end()
    await redis?.end()
  }
  // Node.js does not run `after` where `before` fails.
  before(() =>
    start().catch(async (error: unknown) => {
      await end()
      throw error
    }),
  )
  after(end)

  const start = async (): Promise<void> => {
    redis = await (await RedisServer.make()).start()
    app1 = await Replica.make('app1', redis.port)
    app2 = await Replica.make('app2', redis.port)
    await Promise.all([app1.start(), app2.start()])
    proxy = await Haproxy.make()
    // The file as it is, but for the addresses, the number of connections, which this user may not have, what it would
    // print, and how long a replica may take to answer a check: on a busy machine one that is well may take longer than
    // the 1 s of `inter`. All clients of a test have one address: who they would be stands in a header of its own.
    const cfg = fileOf('haproxy.cfg')
      .replace('defaults\n', '$&  timeout check 20s\n')
      .replace('bind :8080', `bind 127.0.0.1:${proxy.port}`)
      .replace('app1:3000', `127.0.0.1:${app1.port}`)
      .replace('app2:3000', `127.0.0.1:${app2.port}`)
      .replace('maxconn 20000', 'maxconn 500')
      .replace(/^ +http-request del-header X-Forwarded-For\n/m, `$&${asClient}`)
      .replace(/^ +(log|option httplog)( .*)?\n/gm, '')
    await proxy.start(cfg)
    origin = `http://127.0.0.1:${proxy.port}`
  }

  /** Sends what a page of the service would. `from` is the address of a client before the proxy. */
  const post = async (path: string, body: string, cookie = '', from = '', at = origin): Promise<Reply> => {
    const reply = await fetch(at + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: at,
        ...(cookie === '' ? {} : { cookie }),
        ...(from === '' ? {} : { [at === origin ? 'test-client' : 'x-forwarded-for']: from }),
      },
      body,
    })
    const text = await reply.text()
    const set = reply.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    return { status: reply.status, body: JSON.parse(text) as Reply['body'], cookie: set }
  }
  const signIn = async (user: string, from: string): Promise<string> => {
    const { status, cookie } = await post('/sign-in', JSON.stringify({ name: user }), '', from)
    assert.equal(status, 200)
    return cookie
  }
  const directly = (replica: Replica): string => `http://127.0.0.1:${replica.port}`

  test('who signed in at one replica is signed in at the other', async () => {
    const { cookie } = await post('/sign-in', '{"name":"ada"}', '', '203.0.113.1', directly(app1))
    const visits: Reply['body'][] = []
    for (const at of [app2, app1, app2])
      visits.push((await post('/visits', '', cookie, '', directly(at))).body)
    assert.deepEqual(visits, [
      { user: 'ada', visits: 1, replica: 'app2' },
      { user: 'ada', visits: 2, replica: 'app1' },
      { user: 'ada', visits: 3, replica: 'app2' },
    ])
    const { body } = await post('/visits', '', cookie)
    assert.equal(body.visits, 4, 'and by the proxy')
    assert.equal((await post('/visits', '')).status, 401)
  })

  test('a client cannot say that it is somebody else', async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'other.example',
      'x-forwarded-proto': 'https',
    }
    const reply = await fetch(origin, { headers })
    assert.deepEqual(await reply.json(), { ip: '127.0.0.1', protocol: 'http', host: new URL(origin).host })
  })

  test('of a limit of 20, 20 pass both replicas together', async () => {
    const attempt = async (at: string): Promise<number> =>
      (await post('/sign-in', '{"name":"eve"}', '', '203.0.113.2', at)).status
    const asked = [...Array<Replica>(8).fill(app1), ...Array<Replica>(7).fill(app2)]
    const first = await Promise.all(asked.map((each) => attempt(directly(each))))
    assert.deepEqual(new Set(first), new Set([200]))
    const others = await Promise.all(Array.from({ length: 45 }, () => attempt(origin)))
    assert.equal(others.filter((status) => status === 200).length, 5)
    assert.equal(others.filter((status) => status === 429).length, 40)
    assert.equal(await attempt(directly(app1)), 429)
    assert.equal(await attempt(directly(app2)), 429)
    assert.equal((await post('/sign-in', '{"name":"ida"}', '', '203.0.113.3')).status, 200, 'by address')
  })

  test('news of one replica reach the WebSockets of both', async () => {
    const cookie = await signIn('ada', '203.0.113.4')
    const heard: string[][] = []
    const sockets = [directly(app1), directly(app2), origin].map((at, index) => {
      const socket = new WebSocket(`${at.replace('http', 'ws')}/news`)
      heard[index] = []
      socket.on('message', (data) => heard[index]?.push(String(data)))
      return socket
    })
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'open')))
      // A replica hears what is published once Redis knows that it is subscribed.
      let count = 0
      await eventually(
        async () => {
          await post('/news', `${count++}`, cookie, '', directly(app1))
          return heard.every(({ length }) => length > 0)
        },
        'all sockets hear the news',
        20,
      )
      for (const news of heard) assert.deepEqual(news, [...new Set(news)], 'each once')
    } finally {
      for (const socket of sockets) socket.terminate()
    }
  })

  test('replicas that stop and start again under load lose no request, and none is answered twice', async () => {
    const failed: string[] = []
    const answers: Record<string, number> = { app1: 0, app2: 0 }
    let running = true
    // Each has a session, whose count says how often a POST was carried out.
    const visitor = async (index: number): Promise<void> => {
      const cookie = await signIn(`visitor${index}`, `203.0.113.${100 + index}`)
      for (let visits = 1; running; visits++) {
        try {
          const { status, body } = await post('/visits', '', cookie)
          if (status !== 200 || body.visits !== visits)
            failed.push(`${visits}: ${status} ${JSON.stringify(body)}`)
          answers[body.replica] = (answers[body.replica] ?? 0) + 1
          const { status: read } = await fetch(`${origin}/`).then(async (reply) => {
            await reply.arrayBuffer()
            return reply
          })
          if (read !== 200) failed.push(`GET ${read}`)
        } catch (error) {
          failed.push(String((error as Error).cause ?? error))
        }
        if (failed.length > 10) return
      }
    }
    const moreFrom = async (name: string, count: number): Promise<void> => {
      const from = answers[name] ?? 0
      await eventually(() => failed.length > 0 || (answers[name] ?? 0) >= from + count, `${name} answers`)
    }
    const visitors = Promise.all(Array.from({ length: 8 }, (_, index) => visitor(index)))
    try {
      await Promise.all([moreFrom('app1', 50), moreFrom('app2', 50)])
      for (const [stopping, other] of [
        ['app1', 'app2'],
        ['app2', 'app1'],
      ] as const) {
        const replica = stopping === 'app1' ? app1 : app2
        let code: unknown = null
        const stopped = replica.stop().then((given) => (code = given))
        // For the time of --drain-delay it accepts connections, says that it stops, and lives.
        const told = { control: [] as unknown[], app: [] as unknown[], lives: [] as unknown[] }
        await eventually(
          async () => {
            told.control.push(await statusOf(replica.control, '/ready'))
            // A stop without delay closes the port with the first 503. A look may take half a second on a busy machine, so
            // that few of them fall into the five of the delay.
            if (told.control.filter((status) => status === 503).length > 2)
              told.app.push(await statusOf(replica.port, '/ready'))
            told.lives.push(await statusOf(replica.control, '/health'))
            return code !== null || failed.length > 0
          },
          `${stopping} has stopped`,
          20,
        )
        assert.ok(told.control.includes(503) && told.app.includes(503), JSON.stringify(told))
        assert.ok(!told.lives.includes(503), JSON.stringify(told))
        assert.equal(await stopped, 0)
        await moreFrom(other, 50)
        await replica.start()
        await moreFrom(stopping, 50) // HAProxy has found it
      }
    } finally {
      running = false
      await visitors
    }
    assert.deepEqual(failed, [])
  })
})
