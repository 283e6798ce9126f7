/** What the files say of the service holds: each is read, and what can be run here is run. */
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { limitTable } from 'volant'
import { parseAllDocuments } from 'yaml'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const fileOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const secondsOf = (limit: string): number =>
  (limitTable.find(({ name }) => name === limit)?.default ?? NaN) / 1_000

describe('Dockerfile', () => {
  const lines = fileOf('Dockerfile').split('\n').filter(Boolean)
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))

  test('the image has what runs, owned by root and run by somebody else', () => {
    assert.equal(lines.filter((line) => line.startsWith('FROM ')).length, 2)
    assert.ok(last.includes('ENV NODE_ENV=production'))
    assert.ok(last.some((line) => line.startsWith('RUN npm ci --omit=dev')))
    assert.ok(last.includes('COPY --from=build /app/dist ./dist'))
    assert.ok(!last.some((line) => line.startsWith('COPY . ')), 'sources stay in the first stage')
    assert.ok(last.indexOf('USER node') > 0 && last.indexOf('USER node') < last.length - 1)
    assert.doesNotMatch(lines.join('\n'), /--omit=optional|--ignore-scripts|npm start/)
    // Node.js itself has to get the signals: no shell in between.
    assert.equal(last.at(-1), 'CMD ["node", "dist/main.js"]')
    // Packages are installed before the sources come, so that a change of a source installs nothing anew.
    assert.ok(lines.indexOf('RUN npm ci') < lines.indexOf('COPY . .'))
  })

  test('what the image makes itself, and secrets, are not copied', () => {
    const ignored = fileOf('.dockerignore').split('\n')
    for (const name of ['node_modules', 'dist', '.git', '.env*']) assert.ok(ignored.includes(name), name)
  })

  test('the health check says how the service is', async () => {
    const line = last.find((each) => each.startsWith('HEALTHCHECK ')) as string
    const [program, ...args] = JSON.parse(line.slice(line.indexOf('['))) as [string, ...string[]]
    assert.equal(program, 'node')
    const check = async (port: string): Promise<number> => {
      const child = execFile(process.execPath, args, { env: { ...process.env, PORT: port } })
      const [code] = (await once(child, 'exit')) as [number]
      return code
    }
    assert.equal(await check(new URL(url).port), 0)
    assert.equal(await check(String(await freePort())), 1)
  })
})

interface Probe {
  httpGet: { path: string; port: number }
}

interface Container {
  env: { name: string; value: string }[]
  ports: { containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  lifecycle: { preStop: { exec: { command: [string, string] } } }
}

interface Deployment {
  kind: string
  spec: {
    replicas: number
    selector: { matchLabels: object }
    template: {
      metadata: { labels: object }
      spec: { terminationGracePeriodSeconds: number; containers: [Container] }
    }
  }
}

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(fileOf('kubernetes.yaml')).map((each) => each.toJS() as Deployment)
  const deployment = documents.find(({ kind }) => kind === 'Deployment') as Deployment
  const { template, selector } = deployment.spec
  const [container] = template.spec.containers

  test('the pod lives until the app has closed', () => {
    const [program, delay] = container.lifecycle.preStop.exec.command
    assert.equal(program, 'sleep')
    const grace = template.spec.terminationGracePeriodSeconds
    assert.ok(secondsOf('drainIdle') <= secondsOf('shutdownTimeout'))
    assert.ok(grace >= Number(delay) + secondsOf('shutdownTimeout') + 5, String(grace))
  })

  test('the probes ask for routes that there are, at the port that the app has', async () => {
    const port = Number(container.env.find(({ name }) => name === 'PORT')?.value)
    assert.deepEqual(container.ports, [{ containerPort: port }])
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      assert.equal(httpGet.port, port)
      assert.equal((await fetch(url + httpGet.path)).status, 200, httpGet.path)
    }
    assert.equal(container.livenessProbe.httpGet.path, '/health', 'a failing database restarts nothing')
    assert.equal(container.readinessProbe.httpGet.path, '/ready')
  })

  test('service and budget select the pods', () => {
    assert.deepEqual(selector.matchLabels, template.metadata.labels)
    const others = documents.filter(({ kind }) => kind !== 'Deployment') as unknown as {
      spec: { selector: { matchLabels?: object }; minAvailable?: number }
    }[]
    assert.equal(others.length, 2)
    for (const { spec } of others) {
      assert.deepEqual(spec.selector.matchLabels ?? spec.selector, template.metadata.labels)
      if (spec.minAvailable !== undefined) assert.ok(spec.minAvailable < deployment.spec.replicas)
    }
  })
})

const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` }
const withoutNginx =
  spawnSync('nginx', ['-v'], { env }).error === undefined ? false : 'nginx is not installed'

describe('nginx.conf', { skip: withoutNginx }, async () => {
  if (withoutNginx !== false) return
  const folder = mkdtempSync(join(tmpdir(), 'volant-nginx-'))
  const port = await freePort()
  const at = `http://127.0.0.1:${port}`
  // Without TLS, for which it would need a certificate, and with the port of the app.
  const site = fileOf('nginx.conf')
    .replace(/^ +(?:listen|http2|ssl_certificate(?:_key)?) .*\n/gm, '')
    .replace('server {', `server {\n  listen 127.0.0.1:${port};`)
    .replace('server 127.0.0.1:3000', `server 127.0.0.1:${new URL(url).port}`)
  // The same site as it is without `proxy_buffering off`: events still arrive, since their reply asks for it.
  const buffering = await freePort()
  const other = site
    .slice(site.indexOf('\nserver {'))
    .replace(`listen 127.0.0.1:${port};`, `listen 127.0.0.1:${buffering};`)
    .replace('proxy_buffering off;', 'proxy_buffering on;')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr crit; events {}
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
${site}${other}}`,
  )
  const options = ['-p', folder, '-c', 'nginx.conf']
  const checked = spawnSync('nginx', [...options, '-t'], { env, encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  const nginx = spawn('nginx', options, { stdio: ['ignore', 'ignore', 'inherit'], env })
  after(async () => {
    nginx.kill()
    if (nginx.exitCode === null) await once(nginx, 'exit')
    rmSync(folder, { recursive: true })
  })
  while (!(await accepts(port)) && nginx.exitCode === null) await wait(10)

  test('the app knows who asks', async () => {
    const reply = await fetch(at, { headers: { 'x-forwarded-for': '203.0.113.7' } })
    // nginx adds the address of its own client, which is on this machine and so trusted as well.
    assert.deepEqual(await reply.json(), { ip: '203.0.113.7', protocol: 'http', host: '127.0.0.1' })
  })

  test('replies are compressed, JSON too', async () => {
    const reply = await fetch(`${at}/prices`, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(reply.headers.get('content-encoding'), 'gzip')
    assert.equal(((await reply.json()) as object[]).length, 200)
  })

  test('a stream arrives part by part', async () => {
    const cancel = new AbortController()
    const reply = await fetch(`${at}/ticks`, { signal: cancel.signal })
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
    const { value } = await reader.read()
    assert.match(Buffer.from(value as Uint8Array).toString(), /^tick 0\n/)
    cancel.abort()
  })

  for (const [name, origin] of [
    ['', at],
    [', also where nginx buffers', `http://127.0.0.1:${buffering}`],
  ] as const) {
    test(`events arrive one by one, as they are, for a client that takes gzip${name}`, async () => {
      const cancel = new AbortController()
      const headers = { 'accept-encoding': 'gzip' }
      const reply = await fetch(`${origin}/events`, { headers, signal: cancel.signal })
      assert.equal(reply.headers.get('content-encoding'), null)
      assert.equal(reply.headers.get('cache-control'), 'no-cache, no-transform')
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!text.includes('id: 0\nevent: tick\ndata: {"id":0}\n\n'))
        text += Buffer.from((await reader.read()).value ?? '').toString()
      // nginx gathers 1,460 bytes at least where it does: 38 events, and 100 ms lie between two.
      const events = text.split('event: tick').length - 1
      assert.ok(events < 30, `${events} events came together`)
      assert.match(text, /^:\n\nid: 0\nevent: tick\ndata: {"id":0}\n\n/)
      cancel.abort()
    })
  }
})

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
