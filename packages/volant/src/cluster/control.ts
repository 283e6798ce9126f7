/** Tells probes and operators how the supervisor is doing, without asking a worker. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { linkSync, lstatSync, type Stats, unlinkSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { nodeHttp } from '../errors/node-http.ts'
import { printLine } from '../report/print-line.ts'
import type { ClusterInfo } from '../worker/messages.ts'
import type { ControlAddress } from './options.ts'

/** What is told. */
export interface Told {
  readonly isAlive: boolean
  readonly isReady: boolean
  readonly info: ClusterInfo
}

/** How many connections are open at most: a probe needs one, for as long as its reply takes. */
const mostConnections = 64

/**
 * Serves `/health`, `/ready` and `/workers`. Gives a function that ends it, and removes its file. Says on stderr if it
 * cannot listen: the workers serve nevertheless.
 */
export async function openControl(control: ControlAddress, told: Told): Promise<() => void> {
  const { path, host, port } = control
  // Node.js compares connections with the timeouts below at this interval, which is 30 s by default.
  const server = nodeHttp.createServer({ connectionsCheckingInterval: 1_000 }, (request, reply) => {
    const [status, body] = answer(request, told)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    reply.writeHead(isRead ? status : 405, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      connection: 'close',
      ...(!isRead && { allow: 'GET, HEAD' }),
    })
    reply.end(isRead ? JSON.stringify(body) : undefined)
  })
  server.requestTimeout = 5_000
  server.headersTimeout = 5_000
  server.unref()
  limit(server)
  const tell = (error: Error): void =>
    printLine(
      `volant: the control endpoint at ${path ?? `${host}:${port}`} could not be opened (${error.message}): the workers serve without it`,
    )
  if (path === null) {
    server.on('error', tell)
    server.listen(port, host)
    return () => void server.close()
  }
  let own: Stats | null = null
  try {
    own = await listenAt(path, server)
    server.on('error', tell)
  } catch (error) {
    tell(error as Error)
    server.close()
  }
  return () => {
    server.close()
    try {
      if (own !== null) remove(path, own)
    } catch (error) {
      printLine(`volant: the socket file of control stays: ${(error as Error).message}. Remove it`)
    }
  }
}

/** Closes the oldest connection for one that is too many. Connections that say nothing keep no probe out then. */
function limit(server: Server): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    const [oldest] = open
    if (open.size <= mostConnections || oldest === undefined) return
    open.delete(oldest)
    oldest.destroy()
  })
}

/** Makes the socket file `path`, for its owner alone, and gives what it is. Rejects if something else is there. */
async function listenAt(path: string, server: Server): Promise<Stats> {
  await makeRoom(path)
  // When it closes, libuv removes whatever has the name that was bound. So that is one which nobody else takes.
  const bound = join(dirname(path), `.${randomBytes(4).toString('hex')}`)
  const listening = once(server, 'listening')
  // The file is made before listen() returns, and workers are not to have this mask.
  const mask = process.umask(0o177)
  server.listen(bound)
  process.umask(mask)
  await listening
  try {
    // A link never replaces what another supervisor has made meanwhile.
    linkSync(bound, path)
    return lstatSync(bound)
  } finally {
    unlinkSync(bound)
  }
}

/** Removes the socket that a supervisor left behind which was killed. Rejects if somebody else needs the file. */
async function makeRoom(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new Error('the file exists and is no socket. Remove it, or give another path')
  if (!(await isStale(path))) {
    throw new Error(
      'another process listens there, such as a second supervisor. Give each one a path of its own',
    )
  }
  remove(path, found)
}

function isStale(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(false)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(true)
      // Its backlog is full.
      else if (error.code === 'EAGAIN') resolve(false)
      else reject(error)
    })
  })
}

/** Removes a file, unless another has taken its place. */
function remove(path: string, { dev, ino }: Stats): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.dev === dev && found.ino === ino) unlinkSync(path)
}

function answer({ url = '', socket }: IncomingMessage, told: Told): [status: number, body: unknown] {
  switch (url.replace(/\?.*/s, '')) {
    case '/health':
      return told.isAlive ? [200, { status: 'ok' }] : [503, { status: 'no worker beats' }]
    case '/ready':
      return told.isReady ? [200, { status: 'ready' }] : [503, { status: 'not ready' }]
    case '/workers':
      if (isLocal(socket)) return [200, told.info]
      return [404, { status: '/workers is told on a socket file and on loopback addresses alone' }]
    default:
      return [404, { status: 'there are /health, /ready and /workers' }]
  }
}

/** Tells whether the connection came by a socket file, which has no addresses, or to a loopback address. */
function isLocal({ localAddress }: Socket): boolean {
  return localAddress === undefined || /^(::1$|(::ffff:)?127\.)/.test(localAddress)
}
