import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const headers = { authorization: 'Bearer valid-token' }
const row = '{"user":{"id":123,"name":"User 123","email":"user123@example.com","age":21}}'

export const ramapiUser: Scenario = {
  name: 'ramapi-user',
  title: 'Real-world application',
  about: 'GET /api/users/123: a bearer check, Zod on the parameter and a row of SQLite.',
  document: {
    name: 'ramapi',
    command:
      'wrk -t12 -c100 -d30s -H "Authorization: Bearer valid-token" http://localhost:3000/api/users/123',
  },
  program: 'users',
  headline: 'cpu',
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: { kind: 'load', load: load(get('/api/users/123', row, { headers })) },
    },
  ],
  proofs: [
    { path: '/api/users/123', headers, status: 200, reply: row },
    {
      path: '/api/users/1000',
      headers,
      status: 200,
      reply: '{"user":{"id":1000,"name":"User 1000","email":"user1000@example.com","age":58}}',
    },
    { path: '/api/users/1001', headers, status: 404 },
    { path: '/api/users/12a', headers, status: 400 },
    { path: '/api/users/123', status: 401 },
    { path: '/api/users/123', headers: { authorization: 'Bearer other-token' }, status: 401 },
  ],
}
