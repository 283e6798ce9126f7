/** Workers of an app that speaks TLS and HTTP/2. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { after, describe, test } from 'node:test'
import { freePort, makeCertificate, within } from '@volant/test-kit'
import { askOnce, withCluster } from '../src/index.ts'

const certificate = makeCertificate()
after(() => certificate.remove())
const ca = readFileSync(certificate.cert)

function appWith(adapter: string, tls: string, more = ''): string {
  return `
import { createApp } from 'volant'
import { readFileSync } from 'node:fs'
const app = createApp({ adapter: { type: '${adapter}' }, limits: { drainIdle: 500 } })
app.get('/', () => String(process.pid))
const [cert, key] = [readFileSync(${JSON.stringify(certificate.cert)}), readFileSync(${JSON.stringify(certificate.key)})]
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1', tls: { cert, key, ${tls} }${more} })
`
}

interface Asked {
  pid: string
  session: Buffer
  resumed: boolean
}

/** Asks once over TLS. Gives the process, the session, and whether that of before was resumed. */
async function ask(port: number, session?: Buffer): Promise<Asked> {
  const socket: TLSSocket = connect({
    port,
    host: '127.0.0.1',
    ca,
    ...(session !== undefined && { session }),
  })
  let last: Buffer = Buffer.alloc(0)
  let text = ''
  socket.on('session', (given: Buffer) => {
    last = given
  })
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await within(once(socket, 'secureConnect'), 'the handshake')
  const resumed = socket.isSessionReused()
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await within(once(socket, 'close'), 'the reply')
  return { pid: text.split('\r\n\r\n')[1] as string, session: last, resumed }
}

describe('tls', { concurrency: 4 }, () => {
  for (const adapter of ['native', 'node-http']) {
    test(`${adapter}: with the same ticketKeys a session is resumed by any worker`, () =>
      withCluster(
        {
          workers: 2,
          files: {
            'main.js': appWith(
              adapter,
              `ticketKeys: Buffer.from('${randomBytes(48).toString('hex')}', 'hex')`,
            ),
          },
        },
        async ({ port }) => {
          const { pid, session } = await ask(port)
          let others = 0
          for (let count = 0; count < 40 && others < 2; count++) {
            const next = await ask(port, session)
            assert.ok(next.resumed, `the session of ${pid} at ${next.pid}`)
            if (next.pid !== pid) others++
          }
          // The kernel chooses the worker of node-http, and may choose one all the time.
          if (adapter === 'native') assert.equal(others, 2)
        },
      ))

    test(`${adapter}: HTTP/2`, () =>
      withCluster({ workers: 2, files: { 'main.js': appWith(adapter, '') } }, async ({ port }) => {
        const pids = new Set<string>()
        for (let count = 0; count < 4; count++) {
          const client = connectHttp2(`https://127.0.0.1:${port}`, { ca })
          const stream = client.request({ ':path': '/' })
          let text = ''
          stream.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          await within(once(stream, 'close'), 'the reply')
          client.close()
          pids.add(text)
        }
        assert.ok(!pids.has(''))
        if (adapter === 'native') assert.equal(pids.size, 2)
      }))
  }

  test('redirectHttp has a port of its own in all workers', async () => {
    const plain = await freePort()
    const port = await freePort()
    await withCluster(
      {
        workers: 2,
        env: { PORT: String(port) },
        files: { 'main.js': appWith('native', '', `, redirectHttp: { port: ${plain} }`) },
      },
      async (cluster) => {
        assert.match(
          cluster.output,
          new RegExp(`https://127\\.0\\.0\\.1:${port} and http://127\\.0\\.0\\.1:${plain}`),
        )
        for (let count = 0; count < 6; count++) {
          assert.equal((await askOnce(plain)).status, 308)
          await ask(port)
        }
      },
    )
  })
})
