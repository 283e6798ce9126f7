/**
 * An ACME authority for the test: Pebble, which Let's Encrypt makes for this purpose, and a name server that gives the
 * address of this machine for every name. Pebble and certbot are installed once, into `.cache` at the root of the
 * repository.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { eventually, freePort } from '@volant/test-kit'

const pebbleModule = 'github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1'
const cache = fileURLToPath(new URL('../../../.cache/acme', import.meta.url))
const requirements = fileURLToPath(new URL('../requirements.txt', import.meta.url))
const pebble = join(cache, 'go/pebble')
const certbot = join(cache, 'python/bin/certbot')
/** The environment of Go's programs, whose folder is often not in PATH. */
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/local/go/bin` }

/** Installs Pebble and certbot. Gives the reason to skip the test, or false. */
export function withoutAuthority(): string | false {
  const has = (program: string, ...args: string[]): boolean => spawnSync(program, args, { env }).status === 0
  if (!has('openssl', 'version')) return 'openssl is not installed'
  if (!existsSync(pebble)) {
    if (!has('go', 'version')) return 'Go is not installed, which compiles Pebble'
    const { status } = spawnSync('go', ['install', pebbleModule], {
      env: { ...env, GOBIN: join(cache, 'go') },
    })
    if (status !== 0) return 'Pebble could not be installed'
  }
  const mark = join(cache, 'python/installed.txt')
  const wanted = readFileSync(requirements, 'utf8')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
    const python = join(cache, 'python')
    if (!has('python3', '-c', 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10)')) {
      return 'Python 3.10 with venv is not installed, which runs certbot'
    }
    rmSync(python, { recursive: true, force: true })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps']
    const installed =
      has('python3', '-m', 'venv', python) &&
      has(join(python, 'bin/python'), ...pip, '--requirement', requirements)
    if (!installed) return 'certbot could not be installed'
    writeFileSync(mark, wanted)
  }
  return false
}

export class AcmeAuthority {
  readonly folder = mkdtempSync(join(tmpdir(), 'volant-acme-'))
  readonly #ports: { api: number; management: number; http: number }
  readonly #names: Server
  readonly #own = join(this.folder, 'api.pem')
  #process: ChildProcess | null = null

  /** Starts the authority. It asks for the proof of a name at port `http` instead of port 80. */
  static async start(http: number): Promise<AcmeAuthority> {
    const authority = new AcmeAuthority({ api: await freePort(), management: await freePort(), http })
    await authority.#start()
    return authority
  }

  private constructor(ports: { api: number; management: number; http: number }) {
    this.#ports = ports
    // Pebble uses DNS over TCP, where a length precedes each message (RFC 1035 §4.2.2).
    this.#names = createServer((socket) => {
      socket.on('data', (query: Buffer) => socket.write(answer(query.subarray(2)))).on('error', () => {})
    })
  }

  async #start(): Promise<void> {
    const { api, management, http } = this.#ports
    const key = join(this.folder, 'api.key')
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', this.#own], {
      stdio: 'pipe',
    })
    const config = {
      listenAddress: `127.0.0.1:${api}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: this.#own,
      privateKey: key,
      httpPort: http,
      tlsPort: http,
      keyAlgorithm: 'ecdsa',
      retryAfter: { authz: 1, order: 1 },
    }
    writeFileSync(join(this.folder, 'pebble.json'), JSON.stringify({ pebble: config }))
    this.#names.listen(0, '127.0.0.1')
    await once(this.#names, 'listening')
    const names = `127.0.0.1:${(this.#names.address() as AddressInfo).port}`
    const quick = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' }
    const args = ['-config', join(this.folder, 'pebble.json'), '-dnsserver', names]
    const child = spawn(pebble, args, { stdio: 'ignore', env: { ...process.env, ...quick } })
    this.#process = child
    let ready = false
    const ask = (): Promise<unknown> =>
      this.#get('/dir', api).then(
        () => (ready = true),
        () => setTimeout(ask, 50),
      )
    void ask()
    await eventually(() => ready || child.exitCode !== null, 'Pebble answers')
    if (!ready) throw new Error(`Pebble ended with ${child.exitCode}`)
  }

  /** The certificate that clients have to trust. */
  root(): Promise<string> {
    return this.#get('/roots/0', this.#ports.management)
  }

  /** Runs certbot with a folder of its own. The error of a failed run contains its output. */
  async certbot(...args: string[]): Promise<void> {
    const folders = ['config', 'work', 'logs'].flatMap((name) => [`--${name}-dir`, join(this.folder, name)])
    const child = spawn(certbot, [...args, '--non-interactive', ...folders], {
      env: { ...process.env, REQUESTS_CA_BUNDLE: this.#own },
      timeout: 120_000,
    })
    const [said, failure] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    if (child.exitCode !== 0) throw new Error(`certbot ended with ${child.exitCode}: ${said}${failure}`)
  }

  /** Gives the arguments with which certbot gets a certificate for `domain`. */
  order(domain: string, webroot: string): string[] {
    const server = ['--server', `https://localhost:${this.#ports.api}/dir`]
    const account = ['--agree-tos', '--register-unsafely-without-email']
    return ['certonly', ...server, ...account, '--webroot', '--webroot-path', webroot, '--domain', domain]
  }

  async end(): Promise<void> {
    this.#names.close()
    const child = this.#process
    if (child !== null && child.exitCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  #get(path: string, port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = {
        host: 'localhost',
        port,
        path,
        family: 4,
        ca: readFileSync(this.#own),
        agent: false,
      } as const
      request(options, (reply) => resolve(text(reply)))
        .on('error', reject)
        .end()
    })
  }
}

/**
 * Gives the answer to a DNS query for any name (RFC 1035 §4): 127.0.0.1 for a query for an IPv4 address, else no
 * record.
 */
function answer(query: Buffer): Buffer {
  let end = 12
  while (query[end] !== 0) end += (query[end] as number) + 1
  const question = query.subarray(12, end + 5)
  const isAddress = question.readUInt16BE(question.length - 4) === 1
  const head = Buffer.from([
    query[0] as number,
    query[1] as number,
    0x81,
    0x80,
    0,
    1,
    0,
    isAddress ? 1 : 0,
    0,
    0,
    0,
    0,
  ])
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])
  const message = Buffer.concat(isAddress ? [head, question, record] : [head, question])
  return Buffer.concat([Buffer.from([0, message.length]), message])
}
