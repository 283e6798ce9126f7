/** TLS. */
import assert from 'node:assert/strict'
import { get, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { TestAuthority } from '@volant/test-kit'
import type { App, TlsOptions } from 'volant'
import { Live } from '../../kit.ts'

export interface Seen {
  readonly status: number
  readonly text: string
  /** The names for which the certificate of the server is valid. */
  readonly names: string | undefined
}

export const ask = (
  authority: TestAuthority,
  port: number | null,
  options: RequestOptions = {},
): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const request = get(
      { port, host: '127.0.0.1', servername: 'one.example', ca: authority.ca, agent: false, ...options },
      (response) => {
        const names = (response.socket as TLSSocket).getPeerX509Certificate()?.subjectAltName
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, names }))
      },
    )
    request.on('error', reject)
  })

export const serve = async (
  app: App,
  tls: TlsOptions,
  run: (port: number) => Promise<void>,
): Promise<void> => {
  const address = await app.listen({ port: 0, host: '127.0.0.1', tls })
  assert.equal(address.url, `https://127.0.0.1:${address.port}`)
  const live = new Live(app, address)
  try {
    await run(address.port as number)
  } finally {
    live.closeAll()
    await app.close()
  }
}

/** Resolves with the bytes that arrive until the socket closes, or with the error that ends it. */
export function textOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(text === '' ? `${error.code}` : text))
    socket.on('close', () => resolve(text))
    socket.on('end', () => socket.destroy())
  })
}
