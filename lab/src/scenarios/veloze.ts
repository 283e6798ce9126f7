/** What a server of veloze-benchmarks' basic group answers. */
import type { Proof } from '../scenario.ts'

// The suite wants 405; many routers have no such answer and give 404.
export const greetProofs: Proof[] = [
  { path: '/', status: 200, reply: '{"hello":"world"}' },
  { path: '/kitty', status: 200, reply: '{"hello":"kitty"}' },
  { path: '/garfield', status: 200, reply: '{"hello":"garfield"}' },
  { method: 'POST', path: '/', status: 201, reply: '{"created":true}' },
  { method: 'PUT', path: '/foo', status: [404, 405] },
  { path: '/foo/bar', status: 404 },
]
