/** A healthy client on node:http2: it warms a server up, and checks that the server still serves others. */
import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { type Target, refusalOf } from './connection.ts'

const limit = 30_000
/** The interval between two handshakes, and the time limit of one, in ms. */
const [pause, shakeLimit] = [200, 5_000]
/** The number of concurrent requests on that connection. */
const atOnce = 20

/**
 * Sends `times` GETs on a connection of its own, and gives the status of the last; null if replies did not arrive
 * within 30 s.
 */
export async function ask(target: Target, times = 1): Promise<number | null> {
  const { host, port, encrypted } = target
  const session = connect(`${encrypted ? 'https' : 'http'}://${host}:${port}`, { rejectUnauthorized: false })
  const failed = new Promise<null>((resolve) => {
    session.on('error', () => resolve(null))
    session.on('close', () => resolve(null))
    setTimeout(() => resolve(null), limit).unref()
  })
  try {
    let status: number | null = null
    for (let left = times; left > 0; left -= atOnce) {
      const replies = Promise.all(Array.from({ length: Math.min(left, atOnce) }, () => get(session)))
      status = (await Promise.race([replies, failed]))?.at(-1) ?? null
      if (status === null) return null
    }
    return status
  } finally {
    session.destroy()
  }
}

function get(session: ClientHttp2Session): Promise<number | null> {
  return new Promise((resolve) => {
    const stream = session.request({ ':path': '/' })
    let status: number | null = null
    stream.on('response', (headers) => (status = Number(headers[':status'])))
    stream.on('end', () => resolve(status)).on('error', () => resolve(null))
    stream.resume()
  })
}

/**
 * Makes a TLS handshake every 200 ms, each on a connection of its own and without waiting for the one before. `stop`
 * ends this, and gives how many were made and how many failed.
 */
export function shakeHands({ host, port }: Target): {
  readonly stop: () => Promise<{ readonly made: number; readonly failed: number }>
} {
  const tries: Promise<boolean>[] = []
  const timer = setInterval(() => {
    const one = shake(host, port)
    // `stop` reports the ones that throw.
    one.catch(() => undefined)
    tries.push(one)
  }, pause)
  return {
    async stop() {
      clearInterval(timer)
      const made = await Promise.all(tries)
      return { made: made.length, failed: made.filter((isDone) => !isDone).length }
    },
  }
}

/** Gives false if the server refuses the handshake, or does not complete it within 5 s. */
function shake(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host, port, ALPNProtocols: ['h2'], rejectUnauthorized: false })
    const end = (isDone: boolean): void => {
      socket.destroy()
      resolve(isDone)
    }
    socket.setTimeout(shakeLimit, () => end(false))
    socket.on('secureConnect', () => end(true)).on('close', () => end(false))
    socket.on('error', (error) => {
      try {
        refusalOf(error)
        end(false)
      } catch (fault) {
        reject(fault)
      }
    })
  })
}

/** Gives whether a reply of this many bytes arrives whole, on a connection of its own. */
export async function takes(
  { host, port, encrypted }: Target,
  path: string,
  length: number,
): Promise<boolean> {
  const session = connect(`${encrypted ? 'https' : 'http'}://${host}:${port}`, { rejectUnauthorized: false })
  try {
    return await new Promise((resolve) => {
      session.on('error', () => resolve(false))
      session.on('close', () => resolve(false))
      setTimeout(() => resolve(false), limit).unref()
      const stream = session.request({ ':path': path })
      let left = length
      stream.on('data', (bytes: Buffer) => (left -= bytes.length))
      stream.on('end', () => resolve(left === 0)).on('error', () => resolve(false))
    })
  } finally {
    session.destroy()
  }
}
