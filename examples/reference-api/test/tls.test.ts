/** Tests the service over HTTPS, with the option `--tls`. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'
import { UsageError } from '../src/command-line.ts'
import { tlsOf } from '../src/tls.ts'

const server = fileURLToPath(new URL('../src/server.js', import.meta.url))
const skip = spawnSync('openssl', ['version']).status !== 0 && 'openssl is not installed'

test('a folder without a certificate is a mistake, which says how to make one', () => {
  assert.throws(
    () => tlsOf('/nowhere'),
    (error) =>
      error instanceof UsageError &&
      /^no certificate for HTTPS: ENOENT.*cert\.pem'; npm run cert writes one/.test(error.message),
  )
})

test(
  'the service speaks HTTPS, and takes a new certificate at SIGHUP',
  { skip, timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'volant-tls-'))
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const issue = (): string => {
      const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
      execFileSync('openssl', ['req', '-x509', ...curve, ...names, '-keyout', key, '-out', cert], {
        stdio: 'pipe',
      })
      return readFileSync(cert, 'utf8')
    }
    const first = issue()
    // A busy machine refuses no request here.
    const env = { ...process.env, DATABASE: join(folder, 'users.db'), MAX_DELAY: '9999' }
    const child = spawn(process.execPath, [server, '--port', '0', '--tls', folder], { env })
    const exit = once(child, 'exit')
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += String(part)))
    try {
      await eventually(() => /Listening on https:\S+/.test(said) || child.exitCode !== null, 'it listens')
      const port = Number(new URL(/https:\S+/.exec(said)?.[0] ?? said).port)
      const before = await ask(port, first)
      assert.deepEqual(before.body, { message: 'Hello World' })
      const second = issue()
      child.kill('SIGHUP')
      await eventually(() => said.includes('The certificate was read anew'), 'it reads its files')
      assert.notEqual((await ask(port, second)).serialNumber, before.serialNumber)
      rmSync(key)
      child.kill('SIGHUP')
      await eventually(
        () => said.includes('The certificate stays as it was: no certificate for HTTPS: ENOENT'),
        'it says so',
      )
      assert.deepEqual((await ask(port, second)).body, { message: 'Hello World' })
    } finally {
      child.kill()
      await exit
      rmSync(folder, { recursive: true })
    }
  },
)

function ask(port: number, ca: string): Promise<{ body: unknown; serialNumber: string | undefined }> {
  return new Promise((resolve, reject) => {
    const options = { host: 'localhost', family: 4, port, path: '/json', ca, agent: false } as const
    get(options, async (reply) => {
      const { serialNumber } = (reply.socket as TLSSocket).getPeerX509Certificate() ?? {}
      resolve({ body: await json(reply), serialNumber })
    }).on('error', reject)
  })
}
