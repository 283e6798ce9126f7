import type { Proof, Scenario } from '../scenario.ts'
import { load, post } from './load.ts'

const headers = { 'content-type': 'application/json' }
const alice = '{"name":"Alice","email":"alice@example.com","age":25}'
const unique = '{"name":"Alice","email":"alice{unique}@example.com","age":25}'

const created: Proof = {
  method: 'POST',
  path: '/api/users',
  headers,
  body: alice,
  status: 201,
  reply: '{"user":{"id":1001,"name":"Alice","email":"alice@example.com","age":25}}',
}

/**
 * The document sends one body over and over: 201 once, then 409 for ever, counted as if rows were inserted. Here each
 * request of the first lane inserts a row, and the second is labelled for what it is.
 */
export const ramapiCreate: Scenario = {
  name: 'ramapi-create',
  title: 'Database POST',
  about: 'POST /api/users: Zod on the body, select by e-mail, then insert and select, or 409.',
  document: { name: 'ramapi', command: 'wrk -t12 -c100 -d30s -s post.lua http://localhost:3000/api/users' },
  program: 'users',
  headline: 'cpu',
  variants: [
    {
      name: 'unique bodies (201)',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load(post('/api/users', unique, 201, '"email":"alice{unique}@example.com"')),
      },
    },
    {
      name: 'fixed body (409)',
      lane: 'plain',
      measure: { kind: 'load', load: load(post('/api/users', alice, 409, null)) },
      prelude: created,
    },
  ],
  proofs: [
    created,
    { method: 'POST', path: '/api/users', headers, body: alice, status: 409 },
    { method: 'POST', path: '/api/users', headers, body: alice.replace('25', '17'), status: 400 },
    { method: 'POST', path: '/api/users', headers, body: alice.replace('@', ' '), status: 400 },
  ],
}
