import type { Proof, Scenario, Variant } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** What each of them needs is sent to all, so that their heads are equally long. */
const headers = { authorization: 'Bearer lab-token-of-ada', 'x-api-key': 'lab-key-of-ada' }
const password = { ...headers, authorization: `Basic ${Buffer.from('ada:lab-password').toString('base64')}` }

function variant(name: string, sent: Readonly<Record<string, string>> = headers): Variant {
  return {
    name,
    lane: 'plain',
    measure: { kind: 'load', load: load(get(`/${name}`, hello, { headers: sent })) },
  }
}

const right = (path: string, changes: Partial<Proof> = {}): Proof => ({
  path,
  headers,
  status: 200,
  reply: hello,
  ...changes,
})

/** Ours: what each of the smaller middlewares costs by itself. */
export const guards: Scenario = {
  name: 'guards',
  title: 'One guard',
  about:
    'GET of a route behind one small middleware: bearer, basic, apiKey, allowedHosts, ipRestriction, tooBusy, timeout, cacheControl or serverTiming; and GET /none.',
  document: null,
  program: 'guards',
  headline: 'cpu',
  variants: [
    variant('none'),
    variant('bearer'),
    variant('basic', password),
    variant('api-key'),
    variant('allowed-hosts'),
    variant('ip-restriction'),
    variant('too-busy'),
    variant('timeout'),
    variant('cache-control'),
    variant('server-timing'),
  ],
  proofs: [
    right('/none', { absent: ['cache-control', 'server-timing'] }),
    right('/bearer'),
    right('/basic', { headers: password }),
    right('/api-key'),
    right('/allowed-hosts'),
    right('/ip-restriction'),
    right('/too-busy'),
    right('/timeout'),
    right('/cache-control', { fields: { 'cache-control': /public, max-age=3600/ } }),
    right('/server-timing', { fields: { 'server-timing': /total;dur=/ } }),
    ...['/bearer', '/basic', '/api-key'].map((path) => ({ path, status: 401 })),
    { path: '/bearer', headers: { authorization: 'Bearer lab-token-of-adb' }, status: 401 },
    { path: '/basic', headers, status: 401 },
    { path: '/api-key', headers: { 'x-api-key': 'lab-key-of-adb' }, status: 401 },
    { path: '/other-hosts', status: 421 },
    { path: '/other-ips', status: 403 },
    { path: '/late', status: 503 },
  ],
}
