import type { Scenario } from '../scenario.ts'

const headers = { authorization: 'Bearer valid-token' }

/** RamAPI's "real-world" row: bearer check, Zod on the parameter, one row of SQLite by id. */
export const users: Scenario = {
  name: 'users',
  about: 'GET /api/users/123, a bearer check, Zod on the parameter and a row of SQLite',
  program: 'users',
  packages: true,
  exchange: {
    path: '/api/users/123',
    headers,
    status: 200,
    body: '{"user":{"id":123,"name":"User 123","email":"user123@example.com","age":21}}',
  },
  proofs: [
    {
      path: '/api/users/1000',
      headers,
      status: 200,
      body: '{"user":{"id":1000,"name":"User 1000","email":"user1000@example.com","age":58}}',
    },
    { path: '/api/users/1001', headers, status: 404 },
    { path: '/api/users/12a', headers, status: 400 },
    { path: '/api/users/123', status: 401 },
    { path: '/api/users/123', headers: { authorization: 'Bearer other-token' }, status: 401 },
  ],
  warmup: 1,
}
