import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'

process.env.PORT = '0'
const { app, lines, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('a line outside of requests', () => {
  const line = JSON.parse(lines[0] as string) as { msg: string; reqId?: string }
  assert.equal(line.msg, `listening on ${url}`)
  assert.equal(line.reqId, undefined)
})

interface Line {
  level: number
  reqId: string
  msg: string
  module?: string
  user?: { id: string; email: string }
  req: { method: string; url: string; headers: Record<string, string> }
  res: { statusCode: number }
  err?: { message: string }
  tenant: string
}

/** The lines of a request; that of `logger()` is the last one, when the reply is complete. */
async function logged(path: string, headers: Record<string, string> = {}): Promise<Line[]> {
  lines.splice(0)
  await (await fetch(url + path, { headers })).text()
  await eventually(() => lines.some((line) => line.includes('responseTime')), 'the request is logged')
  return lines.map((line) => JSON.parse(line) as Line)
}

test('what was asked and answered', async () => {
  const { level, req, res, tenant } = (await logged('/users/7', { 'x-tenant': 'acme' })).at(-1) as Line
  assert.equal(level, 30)
  assert.equal(`${req.method} ${req.url}`, 'GET /users/7')
  assert.equal(res.statusCode, 200)
  assert.equal(tenant, 'acme')
})

test('all lines of a request have its id, with and without ctx', async () => {
  const [looking, found, completed] = (await logged('/users/7')) as [Line, Line, Line]
  assert.deepEqual([looking.msg, looking.module, looking.level], ['looking for a user', 'users', 20])
  assert.deepEqual([found.msg, found.user], ['found', { id: '7', email: '[Redacted]' }])
  assert.equal(completed.msg, 'request completed')
  assert.equal(new Set([looking, found, completed].map(({ reqId }) => reqId)).size, 1)
})

test('no secrets', async () => {
  const all = await logged('/users/7?token=secret&code=secret&page=2', { authorization: 'Bearer secret' })
  assert.doesNotMatch(JSON.stringify(all), /secret/)
  assert.match((all.at(-1) as Line).req.url, /page=2/)
})

test('levels by status, and what went wrong', async () => {
  assert.equal((await logged('/missing')).at(-1)?.level, 40)
  const [line] = (await logged('/broken')) as [Line]
  assert.equal(line.level, 50)
  assert.equal(line.err?.message, 'out of paper')
  const [own, whole] = (await logged('/printed')) as [Line, Line]
  assert.deepEqual([own.level, own.err?.message, own.msg], [40, 'out of paper', 'printing later'])
  assert.equal(whole.level, 30)
})

test('nobody reads about health checks', async () => {
  await (await fetch(`${url}/health`)).text()
  const [first] = (await logged('/missing')) as [Line]
  assert.equal(first.req.url, '/missing')
})
