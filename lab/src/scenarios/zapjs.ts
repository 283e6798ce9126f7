/** What the scenarios of ZapJS's document share: its paths, its replies, and what proves them. */
import type { Proof, Request } from '../scenario.ts'
import { get } from './load.ts'

const texts = { '/': 'Hello, World!', '/about': 'About this server', '/contact': 'Contact us' }
const objects = {
  '/health': '{"status":"ok"}',
  '/metrics': '{"requests":1,"errors":0}',
  '/api/status': '{"status":"running"}',
  '/api/version': '{"version":"1.0.0"}',
  '/api/config': '{"environment":"production"}',
}
export const replies: Record<string, string> = { ...texts, ...objects }
export const user = (id: string): string =>
  `{"id":"${id}","name":"John Doe","email":"user${id}@example.com","role":"user"}`
const people = Array.from(
  { length: 10 },
  (_, index) => `{"id":${index + 1},"name":"User ${index + 1}","email":"user${index + 1}@example.com"}`,
)
export const list = `{"users":[${people.join(',')}],"total":10,"page":1}`
export const post42 =
  '{"userId":"42","postId":"99","title":"Sample Post","content":"Lorem ipsum dolor sit amet"}'

export const staticPaths = [
  '/',
  '/health',
  '/api/status',
  '/api/version',
  '/metrics',
  '/about',
  '/contact',
  '/api/config',
]
export const dynamic = (kind: string, weight = 1): Request =>
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

export const zapjs = { program: 'zap', headline: 'cpu', proofs } as const
export const wrkScript = (script: string): string =>
  `wrk -t4 -c100 -d10s -s wrk-scripts/${script}.lua http://localhost:3000/`
