/** Ours: connections that live for one request, more routes, more header fields, larger bodies, slow handlers. */
import type { Scenario } from '../scenario.ts'
import { get, load, post } from './load.ts'

const hello = '{"message":"Hello World"}'

export const shortLived: Scenario = {
  name: 'short-lived',
  title: 'Short-lived connections',
  about: 'GET /json on a new connection each time.',
  document: null,
  program: 'hello',
  headline: 'cpu',
  variants: [
    {
      name: 'default',
      lane: 'new connections',
      measure: { kind: 'load', load: load(get('/json', hello), { connection: 'close', connections: 50 }) },
    },
  ],
  proofs: [{ path: '/json', status: 200, reply: '{"message":"Hello World"}' }],
}

export const routes: Scenario = {
  name: 'routes',
  title: 'Number of routes',
  about: 'One of 10, 100, 1,000 or 10,000 routes with a parameter, another one for each request.',
  document: null,
  program: 'routes',
  headline: 'cpu',
  variants: [10, 100, 1_000, 10_000].map((count) => ({
    name: String(count),
    lane: 'plain' as const,
    long: count === 100 || count === 10_000,
    environment: { ROUTES: String(count) },
    measure: {
      kind: 'load' as const,
      load: load(get(`/api/v1/resource{0..${count - 1}}/{nonce}`, '{"resource":{#1},"id":"{nonce}"}')),
    },
  })),
  proofs: [
    { path: '/api/v1/resource0/a', status: 200, reply: '{"resource":0,"id":"a"}' },
    { path: '/api/v1/resource9/b', status: 200, reply: '{"resource":9,"id":"b"}' },
    { path: '/api/v1/resource/b', status: 404 },
  ],
}

/** About so many bytes of JSON, with a nonce that must come back. */
function body(bytes: number): { text: string; items: number } {
  const item = '{"name":"A thing of some length","price":12.5,"tags":["a","b"]}'
  const items = Math.round(bytes / (item.length - 1))
  return { text: `{"id":"{nonce}","items":[${Array(items).fill(item).join(',')}]}`, items }
}

export const postBodies: Scenario = {
  name: 'post',
  title: 'POST of JSON',
  about: 'POST /echo with 1 KB or 64 KB of JSON, which is parsed; its id comes back.',
  document: null,
  program: 'echo',
  headline: 'cpu',
  variants: [1, 64].map((kilobytes) => {
    const { text, items } = body(kilobytes * 1024)
    return {
      name: `${kilobytes} KB`,
      lane: 'plain' as const,
      measure: {
        kind: 'load' as const,
        load: load(post('/echo', text, 200, `{"id":"{nonce}","items":${items}}`), {
          connections: kilobytes > 1 ? 20 : 100,
        }),
      },
    }
  }),
  proofs: [
    {
      method: 'POST',
      path: '/echo',
      headers: { 'content-type': 'application/json' },
      body: '{"id":"a","items":[1,2,3]}',
      status: 200,
      reply: '{"id":"a","items":3}',
    },
  ],
}

export const headerFields: Scenario = {
  name: 'headers',
  title: 'Header fields of the request',
  about: 'GET /json with 2, 10, 20 or 40 header fields, as browsers and proxies add them.',
  document: null,
  program: 'hello',
  headline: 'cpu',
  variants: [2, 10, 20, 40].map((count) => ({
    name: String(count),
    lane: 'plain' as const,
    long: count === 10 || count === 20,
    measure: {
      kind: 'load' as const,
      load: load(
        get('/json', hello, {
          // Host is one of them.
          headers: Object.fromEntries(
            Array.from({ length: count - 1 }, (_, index) => [
              `x-field-${index}`,
              `some value of it ${index}`,
            ]),
          ),
        }),
      ),
    },
  })),
  proofs: [{ path: '/json', status: 200, reply: '{"message":"Hello World"}' }],
}

export const slowHandlers: Scenario = {
  name: 'slow',
  title: '1 % slow handlers',
  about: 'GET /work/<id>: one in 100 waits 50 ms; p95 shows whether the others wait with it.',
  document: null,
  program: 'slow',
  headline: 'p95',
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: { kind: 'load', load: load(get('/work/{0..99999}', '{"id":"{#1}"}')) },
    },
  ],
  proofs: [
    { path: '/work/7', status: 200, reply: '{"id":"7"}' },
    { path: '/work/100', status: 200, reply: '{"id":"100"}' },
  ],
}
