import type { Request, Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** As a page of the same origin sends it. */
const headers = { origin: 'http://127.0.0.1', 'sec-fetch-site': 'same-origin', cookie: 'session=1' }
const post = (path: string): Request => get(path, hello, { method: 'POST', headers })
const asked = { method: 'POST', path: '/csrf' } as const

/** Ours: what it costs to tell requests of other sites, by the headers that browsers send. */
export const csrf: Scenario = {
  name: 'csrf',
  title: 'Protection from other sites',
  about: 'POST /csrf, behind csrf(), and POST /none, as a page of the same origin sends them.',
  document: null,
  program: 'guards',
  headline: 'cpu',
  variants: [
    { name: 'checked', lane: 'plain', measure: { kind: 'load', load: load(post('/csrf')) } },
    { name: 'none', lane: 'plain', measure: { kind: 'load', load: load(post('/none')) } },
  ],
  proofs: [
    { method: 'POST', path: '/none', headers, status: 200, reply: hello },
    { ...asked, headers, status: 200, reply: hello },
    { ...asked, headers: { ...headers, 'sec-fetch-site': 'cross-site' }, status: 403 },
    { ...asked, headers: { cookie: 'session=1', origin: 'http://other.example' }, status: 403 },
    { ...asked, headers: { cookie: 'session=1' }, status: 403 },
  ],
}
