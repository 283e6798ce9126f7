/** The images and compose.yaml. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { freePort, Haproxy, withoutHaproxy } from '@volant/test-kit'
import { parse } from 'yaml'
import { fileOf, imageOf, limitOf, moduleOf, optionOf, seconds, stopTime } from './deployed.ts'
import { faultsOf } from './schemas.ts'

process.env['PORT'] = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const debian = imageOf('Dockerfile')
const alpine = imageOf('Dockerfile.alpine')

for (const [file, { lines, last, command, check }] of Object.entries({
  Dockerfile: debian,
  'Dockerfile.alpine': alpine,
})) {
  describe(file, () => {
    test('the image has what runs, owned by root and run by somebody else', () => {
      assert.equal(lines.filter((line) => line.startsWith('FROM ')).length, 2)
      assert.ok(last.includes('ENV NODE_ENV=production'))
      assert.ok(last.some((line) => line.startsWith('RUN npm ci --omit=dev')))
      assert.ok(last.includes('COPY --from=build /app/dist ./dist'))
      assert.ok(!last.some((line) => line.startsWith('COPY . ')), 'sources stay in the first stage')
      assert.ok(last.indexOf('USER node') > 0 && last.indexOf('USER node') < last.length - 1)
      assert.doesNotMatch(lines.join('\n'), /--omit=optional|--ignore-scripts|npm start/)
      // Packages are installed before the sources come, so that a change of a source installs nothing anew.
      assert.ok(lines.indexOf('RUN npm ci') < lines.indexOf('COPY . .'))
    })

    test('the health check says how the service is', async () => {
      const [program, ...args] = check
      assert.equal(program, 'node')
      const checked = async (port: string): Promise<unknown> => {
        const child = execFile(
          process.execPath,
          args.map((each) => each.replace(':9000', `:${port}`)),
          {
            env: { ...process.env, PORT: port },
          },
        )
        return (await once(child, 'exit'))[0]
      }
      // The supervisor answers at its own port what the app answers at /health: replicas.test.ts asks it.
      assert.equal(await checked(new URL(url).port), 0)
      assert.equal(await checked(String(await freePort())), 1)
    })

    test('the command runs what the first stage compiled, as the first process', () => {
      assert.equal(last.at(-1), `CMD ${JSON.stringify(command).replaceAll(',', ', ')}`)
      if (file === 'Dockerfile') assert.equal(moduleOf(command), 'dist/main.js')
      else assert.deepEqual(command, ['node', 'dist/main.js'], 'there is no supervisor for musl')
    })
  })
}

test('the health check of the image asks where the supervisor answers', () => {
  const [host, port] = (optionOf(debian.command, 'control') ?? '').split(':')
  assert.equal(host, '127.0.0.1', 'nobody outside the container asks it')
  assert.ok(debian.check.at(-1)?.includes(`'http://127.0.0.1:${port}/health'`))
})

test('what the image makes itself, and secrets, are not copied', () => {
  const ignored = fileOf('.dockerignore').split('\n')
  for (const name of ['node_modules', 'dist', '.git', '.env*']) assert.ok(ignored.includes(name), name)
})

interface Service {
  build?: string
  hostname?: string
  command?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  ports?: string[]
  depends_on?: Record<string, { condition: string }>
  stop_grace_period?: string
  ulimits?: { nofile: number }
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  mem_limit?: string
  networks?: string[]
  user?: string
  healthcheck?: object
}

describe('compose.yaml', () => {
  const compose = parse(fileOf('compose.yaml'), { merge: true }) as { services: Record<string, Service> }
  const { services } = compose
  const replicas = Object.entries(services).filter(([, { build }]) => build === '.')

  test('the schema of the Compose Specification finds nothing wrong, and would', () => {
    assert.deepEqual(faultsOf('compose', compose), [])
    const wrong = { ...compose, services: { ...services, app1: { ...services['app1'], stop_grace: '1s' } } }
    assert.match(String(faultsOf('compose', wrong)), /app1.*stop_grace/)
  })

  test('there are two replicas, and each lives until it has stopped', () => {
    assert.equal(replicas.length, 2)
    for (const [name, { stop_grace_period, command }] of replicas) {
      const grace = seconds(stop_grace_period ?? '10s') // Docker's own
      assert.ok(grace > stopTime(command ?? debian.command), `${name}: ${grace} s`)
    }
  })

  test('the replicas share one store, and trust the proxy, by which alone they are reached', () => {
    for (const [name, { environment, hostname, ports }] of replicas) {
      assert.equal(hostname, name)
      assert.equal(ports, undefined)
      assert.equal(environment?.['TRUST_PROXY'], 'private')
      const store = new URL(environment?.['REDIS_URL'] ?? '')
      assert.ok(store.hostname in services, store.hostname)
    }
    assert.doesNotMatch(services['valkey']?.ports?.join() ?? '', /./, 'the store is not published')
  })

  test('no service may change its image, become root again or take all memory', () => {
    for (const [name, service] of Object.entries(services)) {
      assert.equal(service.read_only, true, name)
      assert.deepEqual(service.cap_drop, ['ALL'], name)
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      assert.match(service.mem_limit ?? '', /^\d+[mg]$/, name)
    }
    // Its image starts as root, and without capabilities root cannot become the user.
    assert.equal(services['valkey']?.user, 'valkey')
  })

  test('the proxy and the store share no network', () => {
    const networksOf = (name: string): string[] => services[name]?.networks ?? ['default']
    for (const [name] of replicas)
      assert.deepEqual(networksOf(name), [...networksOf('proxy'), ...networksOf('valkey')])
    assert.ok(!networksOf('proxy').some((each) => networksOf('valkey').includes(each)))
  })

  test('what waits for a healthy service waits for one that has a check', () => {
    for (const { depends_on = {} } of Object.values(services))
      for (const [name, { condition }] of Object.entries(depends_on)) {
        assert.equal(condition, 'service_healthy')
        const other = services[name]
        assert.ok(other?.healthcheck !== undefined || other?.build === '.', `${name} has a health check`)
      }
  })

  test('the proxy knows the replicas, and has the port that is published', () => {
    const cfg = fileOf('haproxy.cfg')
    assert.deepEqual(services['proxy']?.volumes, ['./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro'])
    assert.deepEqual(
      [...cfg.matchAll(/^ +server (\S+) (\S+)$/gm)].map(([, name, address]) => [name, address]),
      replicas.map(([name, { environment }]) => [name, `${name}:${environment?.['PORT']}`]),
    )
    const [, port] = /^ +bind :(\d+)$/m.exec(cfg) ?? []
    assert.equal(services['proxy']?.ports?.[0]?.split(':').at(-1), port)
  })
})

describe('haproxy.cfg', () => {
  const cfg = fileOf('haproxy.cfg')
  const timeOf = (pattern: RegExp): number => seconds(pattern.exec(cfg)?.[1] ?? 'none')

  test('HAProxy finds nothing wrong with it, and would', { skip: withoutHaproxy }, () => {
    assert.equal(Haproxy.faults(cfg), '')
    assert.match(Haproxy.faults(cfg.replace('option redispatch', 'option redispatching')), /unknown option/)
  })

  test('a replica that stops is left out before it stops', () => {
    const checks = timeOf(/ inter (\S+)/) * Number(/ fall (\d+)/.exec(cfg)?.[1])
    const noticed = checks + timeOf(/^ +timeout connect (\S+)/m)
    const delay = seconds(optionOf(debian.command, 'drain-delay') ?? '0s')
    assert.ok(noticed < delay, `${noticed} s, and --drain-delay is ${delay} s`)
    assert.match(cfg, /^ +http-check send meth GET uri \/ready /m)
  })

  test('it closes idle connections before the app does, and ends before Compose kills it', () => {
    const row = 'keepAliveTimeout'
    assert.ok(limitOf(row) > 0)
    assert.match(fileOf('main.ts'), /trustProxy:/, `${row} is 65 s for apps behind a proxy`)
    assert.ok(timeOf(/^ +timeout server (\S+)/m) < 65)
    const { services } = parse(fileOf('compose.yaml'), { merge: true }) as {
      services: Record<string, Service>
    }
    const grace = seconds(services['proxy']?.stop_grace_period ?? '10s')
    assert.ok(grace > timeOf(/^ +hard-stop-after (\S+)/m), `${grace} s`)
  })

  test('it may open as many files as it has connections', () => {
    const [, most] = /^ +maxconn (\d+)$/m.exec(cfg) ?? []
    const { services } = parse(fileOf('compose.yaml'), { merge: true }) as {
      services: Record<string, Service>
    }
    assert.ok((services['proxy']?.ulimits?.nofile ?? 0) > 2 * Number(most) + 100)
  })

  test('a POST is sent again only where it was not sent', () => {
    assert.match(cfg, /^ +http-request disable-l7-retry if !METH_GET$/m)
    assert.match(cfg, /^ +retry-on conn-failure empty-response$/m)
  })
})
