/** Tests a server with curl: over HTTP/1.1, over HTTP/2 that ALPN chose, and over HTTP/2 without TLS. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { run, start, without } from '../src/program.ts'
import { body, largeParts, onEach, type Place, type Site, type Wire } from '../src/site.ts'

const version = spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout ?? ''
const missing =
  without('curl', '--version') || (!/\bHTTP2\b/.test(version) && 'curl was built without HTTP/2')

const ways: { name: string; wire: Wire; options: string[]; http: string }[] = [
  { name: '--http1.1 over TLS', wire: 'https', options: ['--http1.1'], http: '1.1' },
  { name: '--http2 over TLS', wire: 'h2', options: ['--http2'], http: '2' },
  { name: '--http2-prior-knowledge over TLS', wire: 'h2', options: ['--http2-prior-knowledge'], http: '2' },
  {
    name: '--http2-prior-knowledge without TLS',
    wire: 'h2c',
    options: ['--http2-prior-knowledge'],
    http: '2',
  },
  { name: '--http1.1 without TLS beside h2c', wire: 'h2c', options: ['--http1.1'], http: '1.1' },
  // curl offers `Upgrade: h2c`, which RFC 9113 no longer has.
  { name: '--http2 without TLS', wire: 'h2c', options: ['--http2'], http: '1.1' },
]

const isOld = Number(/^curl (\d+)/.exec(version)?.[1]) < 8
/** It also fails with nghttpd. */
const breaks = isOld && 'curl 7 fails with its second request by a connection of HTTP/2 without TLS'

onEach('curl', missing, (place) => {
  test('http: in place of https: gets a sentence', { timeout: 60_000 }, () =>
    place.serve('https', async ({ url }) => {
      const said = await run('curl', ['--silent', '--show-error', url.replace('https:', 'http:')])
      assert.equal(
        JSON.parse(said.toString()).detail,
        'This port speaks TLS. Use https:// in place of http://.',
      )
    }),
  )
  for (const way of ways) describe(way.name, { skip: place.lacks(way.wire) }, () => cases(place, way))
})

function cases(place: Place, { wire, options, http }: (typeof ways)[number]): void {
  /** Sends a request, and gives the output of curl: the reply, and the text of `--write-out`. */
  const usual = ['--silent', '--show-error', '--cacert', place.authority.file, ...options]
  const curl = (...args: string[]): Promise<Buffer> => run('curl', [...usual, ...args])
  const text = async (...args: string[]): Promise<string> => (await curl(...args)).toString()
  const ask = (name: string, each: (site: Site) => Promise<void>, skip: string | false = false): void => {
    test(name, { skip, timeout: 60_000 }, () => place.serve(wire, each))
  }
  const second = wire === 'h2c' && http === '2' && breaks
  const folder = place.authority.folder

  ask('JSON', async ({ url }) => {
    const said = await text('--write-out', ' %{http_version} %{http_code}', `${url}/json`)
    const expected = {
      httpVersion: http,
      protocol: wire === 'h2c' ? 'http' : 'https',
      host: new URL(url).host,
    }
    assert.equal(said, `${JSON.stringify(expected)} ${http} 200`)
  })

  ask('an upload of more than 1 MiB comes back, with a length and without', async ({ url }) => {
    const file = join(folder, 'upload')
    writeFileSync(file, body)
    const post = ['--request', 'POST', '--header', 'content-type: application/octet-stream']
    // curl sends Expect: 100-continue with a body of this length.
    assert.ok((await curl(...post, '--data-binary', `@${file}`, `${url}/echo`)).equals(body))
    const args = [...usual, ...post, '--upload-file', '-', `${url}/echo-stream`]
    assert.ok((await run('curl', args, body)).equals(body))
  })

  ask('Expect: 100-continue is answered, and a refused body is not sent', async ({ url }) => {
    const expecting = ['--include', '--header', 'expect: 100-continue', '--expect100-timeout', '60']
    const said = await text(...expecting, '--data', 'x'.repeat(100), `${url}/small`)
    assert.match(said, /\{"bytes":100\}$/)
    if (http === '1.1') assert.match(said, /^HTTP\/1.1 100 Continue\r\n/)
    // curl 7 reports a refusal that ends the stream (RFC 9113 §8.1) as an empty reply, also with nginx.
    if (http === '2' && isOld) return
    const sent = ['--output', join(folder, 'refused'), '--write-out', '%{http_code} %{size_upload}']
    assert.equal(await text(...expecting, ...sent, '--data', 'x'.repeat(101), `${url}/small`), '413 0')
  })

  ask('a large download, also as slow as the client wants it', async ({ url }) => {
    const written = ['--output', join(folder, 'large'), '--write-out', '%{size_download} %{http_code}']
    assert.equal(await text(...written, `${url}/large`), `${largeParts * body.length} 200`)
    const got = readFileSync(join(folder, 'large'))
    for (let at = 0; at < got.length; at += body.length) {
      assert.ok(got.subarray(at, at + body.length).equals(body), `from ${at}`)
    }
    assert.equal(await text('--limit-rate', '24M', ...written, `${url}/large`), `${got.length} 200`)
  })

  ask('HEAD', async ({ url }) => {
    const said = await text('--head', `${url}/json`)
    assert.match(said, new RegExp(`^HTTP/${http} 200 ?`))
    const length = (await text(`${url}/json`)).length
    assert.match(said, new RegExp(`^content-length: ${length}\r$`, 'im'))
  })

  ask(
    '100 transfers in parallel, by one connection where it is HTTP/2',
    async (site) => {
      const written = ['--write-out', '%{http_code} %{num_connects} %{http_version}\n']
      const parallel = ['--parallel', '--parallel-max', '100', '--no-progress-meter']
      // With HTTP/2 the transfers wait for the first connection and then share it.
      if (http !== '2') parallel.push('--parallel-immediate')
      const files = ['--output', join(folder, 'parallel-#1')]
      const said = await text(...parallel, ...written, ...files, `${site.url}/json?[1-100]`)
      const lines = said
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
      assert.deepEqual([lines.length, site.answered], [100, 100])
      assert.deepEqual(
        new Set(lines.map(([status, , version]) => `${status} ${version}`)),
        new Set([`200 ${http}`]),
      )
      for (let at = 1; at <= 100; at++) {
        assert.equal(JSON.parse(readFileSync(join(folder, `parallel-${at}`), 'utf8')).httpVersion, http)
      }
      if (http !== '2') return
      assert.equal(
        lines.reduce((sum, [, each]) => sum + Number(each), 0),
        1,
      )
    },
    second,
  )

  ask(
    'one connection for requests that follow each other',
    async ({ url }) => {
      const urls = [`${url}/json`, `${url}/status/404`, `${url}/json`, `${url}/nothing`, `${url}/json`]
      const each = urls.flatMap((one) => [one, '--output', '/dev/null'])
      const said = await text('--write-out', '%{http_code} %{num_connects}\n', ...each)
      assert.equal(said, '200 1\n404 0\n200 0\n404 0\n200 0\n')
    },
    second,
  )

  ask('early hints', async ({ url }) => {
    const said = await text('--include', `${url}/hints`)
    const [hints = '', head = '', rest] = said.split('\r\n\r\n')
    assert.match(
      hints,
      new RegExp(`^HTTP/${http} 103[^\n]*\r\nlink: </style.css>; rel=preload; as=style$`, 'i'),
    )
    assert.match(head, new RegExp(`^HTTP/${http} 200`))
    assert.equal(rest, 'the reply')
  })

  ask('a transfer that is killed aborts ctx.signal', async (site) => {
    const running = start('curl', [...usual, `${site.url}/hang/1`])
    await eventually(() => site.waiting.includes('1'), 'the handler runs')
    running.kill()
    await eventually(() => site.left.includes('1'), 'ctx.signal is aborted')
    await running.ended
  })
}
