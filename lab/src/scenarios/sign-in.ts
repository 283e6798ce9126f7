/** Cookies that a server gives to who signs in, as a browser sends them back. */
import { Agent } from 'node:http'
import { Failure } from '../failure.ts'
import { ask } from '../proof.ts'

/** For 10,000 sign-ins. */
const agent = new Agent({ keepAlive: true })

/** Throws a `Failure` when there is none. */
export async function cookieOf(user: string, port: number): Promise<string> {
  const path = `/sign-in/${user}`
  const reply = await ask(port, { method: 'POST', path, status: 200 }, agent)
  if (typeof reply === 'string') throw new Failure(reply)
  const cookies = (reply.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0] as string)
  if (reply.status !== 200 || cookies.length === 0)
    throw new Failure(`POST ${path} is answered with ${reply.status} and ${cookies.length} cookies`)
  return cookies.join('; ')
}

/** Throws a `Failure` when the cookie shows who signed in, too. */
export async function sealedCookie(user: string, port: number): Promise<string> {
  const cookie = await cookieOf(user, port)
  const readings = decodeURIComponent(cookie)
    .split(/[^\w+/-]/)
    .map((part) => Buffer.from(part, 'base64').toString('latin1'))
  if ([cookie, ...readings].some((text) => text.includes(user)))
    throw new Failure('the cookie is not sealed: it shows who signed in')
  return cookie
}
