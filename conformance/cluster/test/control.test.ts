/** The supervisor answers some requests by itself, at an address or a socket file of its own. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { eventually, freePort } from '@volant/test-kit'
import { answered, appOf, askOnce, withCluster } from '../src/index.ts'

test('what is asked, what is not there, what is not allowed, and a file for its owner alone', () =>
  withCluster({ workers: 2 }, async (cluster) => {
    assert.deepEqual(await cluster.ask('/health'), { status: 200, allow: undefined, text: '{"status":"ok"}' })
    assert.equal((await cluster.ask('/ready?verbose')).status, 200)
    assert.equal((await cluster.ask('/ready', 'HEAD')).text, '')
    const info = await cluster.info()
    assert.equal(info.pid, cluster.pid)
    assert.equal(info.size, 2)
    assert.deepEqual(
      info.workers.map(({ worker, state }) => [worker, state]),
      [
        [0, 'ready'],
        [1, 'ready'],
      ],
    )
    assert.equal((await cluster.ask('/other')).status, 404)
    const { status, allow } = await cluster.ask('/health', 'POST')
    assert.deepEqual([status, allow], [405, 'GET, HEAD'])
    assert.equal(statSync(join(cluster.folder, 'control')).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(cluster.folder).filter((name) => name.startsWith('.')),
      [],
    )
  }))

test('a file that is no socket is left alone, and workers have the right mask', () =>
  withCluster(
    {
      workers: 1,
      control: false,
      args: ['--control', './notes'],
      prepare: (folder) => writeFileSync(join(folder, 'notes'), 'mine'),
      files: { 'main.js': appOf({ before: "app.get('/umask', () => String(process.umask()))" }) },
    },
    async (cluster) => {
      await cluster.says(/control endpoint .*the file exists and is no socket/)
      await assert.rejects(askOnce(cluster.port, '/exit'))
      assert.equal(Number((await askOnce(cluster.port, '/umask')).text), process.umask())
      assert.ok(existsSync(join(cluster.folder, 'notes')))
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 0)
    },
  ))

/** Asks at an address, and gives the status and the field `Connection`. */
async function ask(host: string, port: number, path: string): Promise<unknown[]> {
  const asked = request({ host, port, path, agent: false }).end()
  const [reply] = (await once(asked, 'response')) as [IncomingMessage]
  await text(reply)
  return [reply.statusCode, reply.headers.connection]
}

test('connections that say nothing keep no probe out, and are closed', async () => {
  const port = await freePort()
  await withCluster({ workers: 1, control: false, args: ['--control', `127.0.0.1:${port}`] }, async () => {
    await answered(() => ask('127.0.0.1', port, '/ready'))
    const silent: Socket[] = []
    let closed = 0
    try {
      for (let count = 0; count < 80; count++) {
        const socket = connect(port, '127.0.0.1')
        silent.push(socket)
        socket
          .on('error', () => {})
          .on('close', () => closed++)
          .resume()
        await once(socket, 'connect')
      }
      assert.deepEqual(await ask('127.0.0.1', port, '/health'), [200, 'close'])
      // The supervisor closes connections over the limit at once, and the others after 5 s.
      await eventually(() => closed === 80, 'all of them are closed')
    } finally {
      for (const socket of silent) socket.destroy()
    }
  })
})

const outside = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address

test('the workers are told on loopback addresses alone', { skip: outside === undefined }, async () => {
  const port = await freePort()
  await withCluster({ workers: 1, control: false, args: ['--control', `0.0.0.0:${port}`] }, async () => {
    await answered(() => ask('127.0.0.1', port, '/ready'))
    assert.deepEqual(await ask('127.0.0.1', port, '/workers'), [200, 'close'])
    assert.deepEqual(await ask(outside as string, port, '/workers'), [404, 'close'])
    assert.deepEqual(await ask(outside as string, port, '/health'), [200, 'close'])
  })
})

test('a second supervisor leaves the socket file of the first, and serves nevertheless', () =>
  withCluster({ workers: 1 }, async (first) => {
    const file = join(first.folder, 'control')
    await withCluster({ workers: 1, control: false, args: ['--control', file] }, async (second) => {
      await second.says(/control endpoint .*another process listens there/)
      assert.equal((await first.info()).pid, first.pid)
      assert.ok((await askOnce(second.port, '/')).text.length > 0)
      second.signal('SIGTERM')
      assert.equal(await second.exit(), 0)
    })
    assert.equal((await first.info()).pid, first.pid)
  }))

test('what a supervisor leaves that was killed is replaced, and a file that took its place stays', () =>
  withCluster({ workers: 1 }, async (first) => {
    const file = join(first.folder, 'control')
    first.signal('SIGKILL')
    await first.exit()
    assert.ok(existsSync(file))
    await withCluster({ workers: 1, control: false, args: ['--control', file] }, async (second) => {
      await answered(async () => assert.equal((await first.info()).pid, second.pid))
      rmSync(file)
      writeFileSync(file, 'of somebody else')
      second.signal('SIGTERM')
      assert.equal(await second.exit(), 0)
      assert.ok(existsSync(file))
    })
  }))

test('a path that cannot be used is told, and ends nothing', () =>
  withCluster(
    {
      workers: 1,
      control: false,
      args: ['--control', './notes/control'],
      prepare: (folder) => writeFileSync(join(folder, 'notes'), 'mine'),
    },
    async (cluster) => {
      await cluster.says(/control endpoint .*ENOTDIR/)
      assert.ok((await askOnce(cluster.port, '/')).text.length > 0)
    },
  ))
