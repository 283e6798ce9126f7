/**
 * Closes a server while clients send requests, and starts another at its port: no request fails, is lost, or is handled
 * twice. After GOAWAY a client sends its next requests on a new connection.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, freePort } from '@volant/test-kit'
import { startGo, withoutGo } from '../src/go.ts'
import { onEach, Site, type Wire } from '../src/site.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const sharesPorts = major > 22 || (major === 22 && minor >= 12)
const restarts = 3

const ways: [name: string, wire: Wire, proto: 'HTTP/1.1' | 'HTTP/2.0'][] = [
  ['HTTP/1.1 over TLS', 'https', 'HTTP/1.1'],
  ['HTTP/2 over TLS', 'h2', 'HTTP/2.0'],
  ['HTTP/2 without TLS', 'h2c', 'HTTP/2.0'],
]

onEach('restarts under load', withoutGo, (place) => {
  const old = place.adapter === 'node-http' && !sharesPorts && 'node:http shares a port from Node.js 22.12 on'
  for (const [name, wire, proto] of ways) {
    test(name, { skip: place.lacks(wire) || old, timeout: 180_000 }, async () => {
      const port = await freePort()
      const make = (at: number): Site =>
        new Site(place, wire, { name: `server ${at}`, options: { limits: { drainIdle: 5_000 } } })
      const sites = [make(0)]
      let site = sites[0] as Site
      await site.listen(port)
      const client = startGo(site, proto, '-load', '8')
      try {
        for (let at = 1; at <= restarts; at++) {
          await eventually(() => site.counted >= 200, `${site.name} is asked`)
          const next = make(at)
          sites.push(next)
          await next.listen(port)
          await site.app.close()
          site = next
        }
        await eventually(() => site.counted >= 200, `${site.name} is asked`)
        client.finish()
        const { code, stdout, stderr } = await client.ended
        assert.equal(code, 0, stderr)
        const { asked, servers, failures } = JSON.parse(stdout.toString().trim().split('\n').at(-1) as string)
        assert.deepEqual(failures, {})
        assert.deepEqual(servers, Object.fromEntries(sites.map(({ name, counted }) => [name, counted])))
        assert.equal(
          asked,
          sites.reduce((sum, { counted }) => sum + counted, 0),
        )
      } finally {
        client.kill()
        await Promise.all(sites.map(({ app }) => app.close({ drainIdle: 0 })))
      }
    })
  }
})
