/** Calls `app.setTls()` while clients send requests: no request fails, and new connections get the new certificate. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { eventually } from '@volant/test-kit'
import { startGo, withoutGo } from '../src/go.ts'
import { onEach, type Site } from '../src/site.ts'

const reloads = 5

onEach('reloads under load', withoutGo, (place) => {
  for (const [name, proto, options] of [
    ['HTTP/1.1, a connection for each request', 'HTTP/1.1', ['-fresh']],
    ['HTTP/1.1, connections that stay', 'HTTP/1.1', []],
    ['HTTP/2, a connection for each request', 'HTTP/2.0', ['-fresh']],
    ['HTTP/2, connections that stay', 'HTTP/2.0', []],
  ] as const) {
    test(name, { skip: place.lacks(proto === 'HTTP/1.1' ? 'https' : 'h2'), timeout: 180_000 }, () =>
      place.serve('https', async (site) => {
        const client = startGo(site, proto, '-load', '4', ...options)
        try {
          let current = place.identity
          assert.equal(await serialOf(site), current.serialNumber)
          for (let at = 0; at < reloads; at++) {
            const before = site.counted
            await eventually(() => site.counted >= before + 20, 'the server is asked')
            const next = place.authority.issue()
            // The key does not match the certificate, so nothing changes.
            assert.throws(() => site.app.setTls({ cert: next.cert, key: current.key }), {
              code: 'E_BAD_OPTION',
            })
            assert.equal(await serialOf(site), current.serialNumber)
            site.app.setTls({ cert: next.cert, key: next.key })
            assert.equal(await serialOf(site), next.serialNumber)
            current = next
          }
          client.finish()
          const { code, stdout, stderr } = await client.ended
          assert.equal(code, 0, stderr)
          const { asked, connections, failures } = JSON.parse(
            stdout.toString().trim().split('\n').at(-1) as string,
          )
          assert.deepEqual(failures, {})
          assert.equal(asked, site.counted)
          assert.ok(
            options.length > 0 ? connections === asked : connections <= 4,
            `${connections} of ${asked}`,
          )
        } finally {
          client.kill()
        }
      }),
    )
  }
})

/** Gives the serial number of the certificate that a new connection gets. */
function serialOf({ url, place }: Site): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { port: Number(new URL(url).port), host: '127.0.0.1', ca: place.authority.cert },
      () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber)
        socket.destroy()
      },
    )
    socket.on('error', reject)
  })
}
