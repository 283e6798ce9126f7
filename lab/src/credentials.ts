/** Requests of many users, each with credentials of its own, so that a cache of the last ones helps nobody. */
import { Failure } from './failure.ts'
import { tryProof } from './proof.ts'
import type { Credentials, Load, Request } from './scenario.ts'

/** Asked for at once. */
const atOnce = 20
/** So many characters are changed of credentials that must then be refused, one at a time. */
const changes = 12

/** The load with each of its requests for every user, in turns. Throws a `Failure`. */
export async function withCredentials(load: Load, port: number): Promise<Load> {
  const { credentials } = load
  if (credentials === undefined) return load
  const values = await obtain(credentials, port)
  const requests = load.requests.flatMap((request) =>
    values.map((value, index) => requestOf(request, credentials, userOf(index), value)),
  )
  return { ...load, requests, order: 'rotate' }
}

/** What is wrong with a server that takes credentials of which one character was changed, or null. */
export async function forgeryFault({ credentials, requests }: Load, port: number): Promise<string | null> {
  const [request] = requests
  if (credentials === undefined || !credentials.checked || request === undefined) return null
  const { header } = credentials
  const value = await credentials.obtain(userOf(0), port)
  for (let change = 1; change <= changes; change += 1) {
    const forged = changed(value, Math.floor((value.length * change) / (changes + 1)))
    const fault = await tryProof(port, { path: request.path, headers: { [header]: forged }, status: 401 })
    if (fault !== null) return `${fault}, with one character of the field ${header} changed`
  }
  return null
}

async function obtain({ obtain: one, count }: Credentials, port: number): Promise<string[]> {
  const values: string[] = []
  for (let index = 0; index < count; index += atOnce) {
    const users = Array.from({ length: Math.min(atOnce, count - index) }, (_, more) => userOf(index + more))
    values.push(...(await Promise.all(users.map((user) => one(user, port)))))
  }
  if (new Set(values).size < count) throw new Failure('two users have the same credentials')
  return values
}

function requestOf(request: Request, { header }: Credentials, user: string, value: string): Request {
  const { headers, expect } = request
  const body = expect.body?.replace('{user}', user) ?? null
  return { ...request, headers: { ...headers, [header]: value }, expect: { ...expect, body } }
}

/** Of five digits, so that all replies are equally long. */
function userOf(index: number): string {
  return `u${10_000 + index}`
}

/** With another letter in place of the first letter or digit from `at` on. */
function changed(value: string, at: number): string {
  const place = at + Math.max(0, value.slice(at).search(/[A-Za-z0-9]/))
  return `${value.slice(0, place)}${value[place] === 'A' ? 'B' : 'A'}${value.slice(place + 1)}`
}
