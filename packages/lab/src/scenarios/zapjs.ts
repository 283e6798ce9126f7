/** ZapJS: static routes, dynamic ones, both mixed, and six requests at five numbers of connections. */
import type { Proof, Request, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'

const texts = { '/': 'Hello, World!', '/about': 'About this server', '/contact': 'Contact us' }
const objects = {
  '/health': '{"status":"ok"}',
  '/metrics': '{"requests":1,"errors":0}',
  '/api/status': '{"status":"running"}',
  '/api/version': '{"version":"1.0.0"}',
  '/api/config': '{"environment":"production"}',
}
const replies: Record<string, string> = { ...texts, ...objects }
const user = (id: string): string =>
  `{"id":"${id}","name":"John Doe","email":"user${id}@example.com","role":"user"}`
const people = Array.from(
  { length: 10 },
  (_, index) => `{"id":${index + 1},"name":"User ${index + 1}","email":"user${index + 1}@example.com"}`,
)
const list = `{"users":[${people.join(',')}],"total":10,"page":1}`
const post42 = '{"userId":"42","postId":"99","title":"Sample Post","content":"Lorem ipsum dolor sit amet"}'

const staticPaths = [
  '/',
  '/health',
  '/api/status',
  '/api/version',
  '/metrics',
  '/about',
  '/contact',
  '/api/config',
]
const dynamic = (kind: string, weight = 1): Request =>
  get(`/api/${kind}/{1..1000}`, kind === 'users' ? user('{#1}') : `{"kind":"${kind}","id":"{#1}"}`, {
    weight,
  })

const proofs: Proof[] = [
  ...staticPaths.map((path) => ({ path, status: 200, reply: replies[path] as string })),
  { path: '/api/users/123', status: 200, reply: user('123') },
  { path: '/api/posts/7', status: 200, reply: '{"kind":"posts","id":"7"}' },
  { path: '/api/users', status: 200, reply: list },
  { path: '/api/users/42/posts/99', status: 200, reply: post42 },
]

const base = { program: 'zap', headline: 'cpu', proofs } as const
const wrk = (script: string): string =>
  `wrk -t4 -c100 -d10s -s wrk-scripts/${script}.lua http://localhost:3000/`

export const zapjsStatic: Scenario = {
  ...base,
  name: 'zapjs-static',
  title: 'Static routes',
  about: 'Eight static paths in turn.',
  document: { name: 'zapjs', command: wrk('static-route') },
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load(
          staticPaths.map((path) => get(path, replies[path] as string)),
          { order: 'rotate' },
        ),
      },
    },
  ],
}

export const zapjsDynamic: Scenario = {
  ...base,
  name: 'zapjs-dynamic',
  title: 'Dynamic routes',
  about: 'Five kinds of record, an id from 1 to 1,000 each; the id must come back.',
  document: { name: 'zapjs', command: wrk('dynamic-route') },
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load(['users', 'posts', 'products', 'orders', 'comments'].map((kind) => dynamic(kind))),
      },
    },
  ],
}

/** 60 % static, 40 % dynamic. The text of the document also says POST; its script has none. */
export const zapjsMixed: Scenario = {
  ...base,
  name: 'zapjs-mixed',
  title: 'Mixed workload',
  about: '60 % static paths, 40 % dynamic ones.',
  document: { name: 'zapjs', command: wrk('mixed-workload') },
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load([
          ...['/', '/health', '/api/status', '/metrics'].map((path) =>
            get(path, replies[path] as string, { weight: 15 }),
          ),
          dynamic('users', 14),
          dynamic('posts', 13),
          dynamic('products', 13),
        ]),
      },
    },
  ],
}

const asked: Record<string, Request> = {
  text: get('/', 'Hello, World!'),
  user: get('/api/users/123', user('123')),
  list: get('/api/users', list),
  health: get('/health', '{"status":"ok"}'),
  param: get('/api/users/42', user('42')),
  nested: get('/api/users/42/posts/99', post42),
}
const sweep: Variant[] = Object.entries(asked).flatMap(([name, request]) =>
  [10, 50, 100, 200, 500].map((connections) => ({
    name: `${name}-${connections}`,
    lane: 'plain' as const,
    measure: { kind: 'load' as const, load: load(request, { connections }) },
    long: name !== 'param' || connections % 490 !== 10,
  })),
)

export const zapjsSweep: Scenario = {
  ...base,
  name: 'zapjs-sweep',
  title: 'Connection sweep',
  about: 'Six requests at 10, 50, 100, 200 and 500 connections.',
  document: { name: 'zapjs', command: 'wrk -t 4 -c N -d 15s --latency URL' },
  variants: sweep,
}
