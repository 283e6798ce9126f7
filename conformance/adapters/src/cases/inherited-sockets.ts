/** `listen({ fd })`: sockets that another process has opened. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { coded, type Kit, within } from '../kit.ts'

/** In ms: for a child that hangs. */
const longest = 60_000

export function inheritedSockets(kit: Kit): void {
  describe('sockets that are inherited', () => {
    if (kit.adapter === 'uwebsockets') {
      test('fd is refused by name', () =>
        assert.rejects(kit.app().listen({ fd: 3 }), coded('E_ADAPTER', /fd/)))
      return
    }

    test('a number that cannot be one, and an address beside it, are refused', async () => {
      for (const fd of [-1, 0, 2, 1.5, 2 ** 31, '3', null])
        await assert.rejects(kit.app().listen({ fd: fd as number }), coded('E_BAD_OPTION', /fd/))
      await assert.rejects(kit.app().listen({ fd: 3, port: 80 }), coded('E_BAD_OPTION', /leave port out/))
    })

    test('a descriptor that is not open, a file, and a connection are no sockets that listen', async () => {
      const says = /is no socket that listens: systemd passes/
      for (const passed of [null, openSync('/dev/null', 'r')]) {
        const { lines, exit } = run(kit, passed)
        assert.match(await lines(), says)
        await exit
      }
      const server = await listening({ port: 0, host: '127.0.0.1' })
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      await once(socket, 'connect')
      const { lines, exit } = run(kit, handleOf(socket))
      assert.match(await lines(), says)
      await exit
      socket.destroy()
      server.close()
    })

    test('a TCP socket: its address is told, connections that wait are served, and close releases it', async () => {
      const server = await listening({ port: 0, host: '127.0.0.1' })
      const { port } = server.address() as AddressInfo
      const child = run(kit, handleOf(server))
      server.close()
      assert.equal(
        await child.lines(),
        JSON.stringify({ port, host: '127.0.0.1', path: null, url: `http://127.0.0.1:${port}` }),
      )
      assert.equal(await ask({ port, host: '127.0.0.1' }), 'inherited')
      child.end()
      assert.equal(await child.lines(), 'closed')
      const again = await listening({ port, host: '127.0.0.1' })
      again.close()
      await child.exit
    })

    test('a Unix socket: it is served, and its file is left to whoever made it', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'volant-fd-'))
      const path = join(folder, 'first')
      try {
        const server = await listening({ path })
        const child = run(kit, handleOf(server))
        // Closing the server here removes one name of the socket.
        const other = join(folder, 'second')
        linkSync(path, other)
        server.close()
        assert.equal(JSON.parse(await child.lines()).path, path)
        assert.equal(await ask({ socketPath: other }), 'inherited')
        child.end()
        assert.equal(await child.lines(), 'closed')
        await child.exit
        await assert.rejects(ask({ socketPath: other }), /ECONNREFUSED/)
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  })
}

/** Gives the descriptor behind a server or a connection of node:net, which has no other way to tell it. */
function handleOf(owner: object): number {
  return (owner as { _handle: { fd: number } })._handle.fd
}

async function listening(options: ListenOptions): Promise<Server> {
  const server = createServer().listen(options)
  await once(server, 'listening')
  return server
}

function ask(where: { port?: number; host?: string; socketPath?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...where, agent: false, timeout: longest }, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      reply.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** Runs an app that listens at descriptor 3, until `end`. `lines` gives the next line that it prints. */
function run(
  { adapter }: Kit,
  fd: number | null,
): { lines(): Promise<string>; end(): void; exit: Promise<unknown> } {
  const script = `
    import { createApp } from ${JSON.stringify(import.meta.resolve('volant'))}
    const app = createApp({ adapter: { type: ${JSON.stringify(adapter)} }, startLine: false })
    app.get('/', () => 'inherited')
    const wait = setTimeout(() => {}, ${longest})
    process.stdin.on('end', async () => {
      await app.close({ drainIdle: 0 })
      console.log('closed')
      clearTimeout(wait)
    }).resume()
    try {
      console.log(JSON.stringify(await app.listen({ fd: 3 })))
    } catch (error) {
      console.log(error.message)
      process.exit(1)
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit', ...(fd === null ? [] : [fd])],
  })
  const exit = once(child, 'exit')
  const all = createInterface(child.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
  return {
    lines: async () => (await within(all.next(), 'a line of a child')).value as string,
    end: () => child.stdin?.end(),
    exit,
  }
}
