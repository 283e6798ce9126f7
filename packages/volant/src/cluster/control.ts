/** Tells probes and operators how the supervisor is doing, without asking a worker. */
import { createServer, type Server } from 'node:http'
import { lstatSync, unlinkSync } from 'node:fs'
import { printLine } from '../report/print-line.ts'
import type { ClusterInfo } from '../worker/messages.ts'
import type { ControlAddress } from './options.ts'

/** What is told. */
export interface Told {
  readonly isAlive: boolean
  readonly isReady: boolean
  readonly info: ClusterInfo
}

/** Serves `/health`, `/ready` and `/workers`. Gives a function that ends it, and removes its file. */
export function openControl(control: ControlAddress, told: Told): () => void {
  const { path, host, port } = control
  const server = createServer((request, reply) => {
    const [status, body] = answer((request.url ?? '').replace(/\?.*/s, ''), told)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    reply.writeHead(isRead ? status : 405, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(!isRead && { allow: 'GET, HEAD' }),
    })
    reply.end(isRead ? JSON.stringify(body) : undefined)
  })
  server.requestTimeout = 5_000
  server.headersTimeout = 5_000
  server.maxConnections = 64
  server.unref()
  server.on('error', (error) => {
    printLine(
      `volant: nobody can be told how the workers are at ${path ?? `${host}:${port}`} (control): ${error.message}`,
    )
  })
  if (path === null) server.listen(port, host)
  else listenAt(path, server)
  return () => void server.close()
}

function listenAt(path: string, server: Server): void {
  // Only a supervisor that was killed leaves its socket behind: two of them have files of their own.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path)
  // The file is made before listen() returns, and workers are not to have this mask.
  const mask = process.umask(0o177)
  server.listen(path)
  process.umask(mask)
}

function answer(url: string, told: Told): [status: number, body: unknown] {
  switch (url) {
    case '/health':
      return told.isAlive ? [200, { status: 'ok' }] : [503, { status: 'no worker beats' }]
    case '/ready':
      return told.isReady ? [200, { status: 'ready' }] : [503, { status: 'not ready' }]
    case '/workers':
      return [200, told.info]
    default:
      return [404, { status: 'there are /health, /ready and /workers' }]
  }
}
