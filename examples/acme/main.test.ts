import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { TLSSocket } from 'node:tls'
import { eventually, freePort } from '@volant/test-kit'
import { AcmeAuthority, withoutAuthority } from './authority.ts'

const domain = 'shop.test'
const program = fileURLToPath(new URL('./main.js', import.meta.url))

test(
  'it waits for its first certificate, and takes the next ones without a failed request',
  {
    skip: withoutAuthority(),
    timeout: 600_000,
  },
  async () => {
    const webroot = mkdtempSync(join(tmpdir(), 'volant-webroot-'))
    const [httpPort, port] = [await freePort(), await freePort()]
    const authority = await AcmeAuthority.start(httpPort)
    const env = {
      ...process.env,
      DOMAIN: domain,
      CERTIFICATES: join(authority.folder, 'config/live', domain),
      WEBROOT: webroot,
      HTTP_PORT: String(httpPort),
      PORT: String(port),
    }
    const service = spawn(process.execPath, [program], { env })
    const exit = once(service, 'exit')
    let said = ''
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (part) => (said += String(part)))
    try {
      await eventually(() => said.includes('No other certificate: ENOENT'), 'the service waits')
      const elsewhere = await fetch(`http://127.0.0.1:${httpPort}/a?b`, { redirect: 'manual' })
      assert.deepEqual([elsewhere.status, elsewhere.headers.get('location')], [308, `https://${domain}/a?b`])

      const hook = ['--deploy-hook', `kill -HUP ${service.pid}`]
      await authority.certbot(...authority.order(domain, webroot), ...hook)
      await eventually(() => said.includes('The certificate is in use'), 'the service has its certificate')
      assert.match(said, /^Listening on https:/m)
      const root = await authority.root()
      const agent = new Agent({ ca: root, servername: domain, keepAlive: true, maxSockets: 1 })
      const first = await ask(port, agent)
      assert.equal(first.body, 'Hello by https')

      // One client keeps its connection, and another one opens a new connection for each request.
      let over = false
      const failures: string[] = []
      let asked = 0
      const keepAsking = async (own: Agent): Promise<void> => {
        while (!over) {
          await ask(port, own).then(
            () => asked++,
            (error: Error) => failures.push(error.message),
          )
        }
      }
      const fresh = new Agent({ ca: root, servername: domain, maxCachedSessions: 0 })
      const clients = [keepAsking(agent), keepAsking(fresh), keepAsking(fresh)]

      const serials = [first.serialNumber]
      for (let renewal = 1; renewal <= 2; renewal++) {
        const before = asked
        await authority.certbot('renew', '--force-renewal', '--no-random-sleep-on-renew', ...hook)
        await eventually(() => said.split('The certificate is in use').length > renewal + 1, 'it is in use')
        serials.push((await ask(port, fresh)).serialNumber)
        assert.equal(new Set(serials).size, renewal + 1, 'new connections get the new certificate')
        assert.ok(asked > before)
      }
      over = true
      await Promise.all(clients)
      assert.deepEqual(failures, [])
      assert.equal((await ask(port, agent)).socket, first.socket, 'a connection that was open stayed')
      agent.destroy()
      service.kill()
      assert.deepEqual(await exit, [0, null], said)
    } finally {
      service.kill()
      await exit
      await authority.end()
      rmSync(webroot, { recursive: true })
    }
  },
)

interface Answer {
  readonly body: string
  readonly socket: TLSSocket
  readonly serialNumber: string | undefined
}

function ask(port: number, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent, headers: { host: domain } }, async (reply) => {
      const socket = reply.socket as TLSSocket
      const { serialNumber } = socket.getPeerX509Certificate() ?? {}
      resolve({ body: await text(reply), socket, serialNumber })
    }).on('error', reject)
  })
}
