/** The service on a free port, with an empty database. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { reference } from '../../src/profiles/reference.ts'

export const authorization = 'Bearer secret'

/** Serves while the tests of the calling file run. `folder` is removed when they have ended. */
export function serving() {
  const folder = mkdtempSync(join(tmpdir(), 'reference-api-'))
  const app = reference(
    { signals: false },
    {
      database: join(folder, 'new/test.db'),
      token: 'secret',
      publicFigures: true,
      publicDocs: true,
      // Its guard against load does not refuse requests on a machine that is busy with other tests.
      maxEventLoopDelay: 9_999,
    },
  )
  let url = ''
  before(async () => {
    ;({ url } = await app.listen({ port: 0, host: '127.0.0.1' }))
  })
  after(async () => {
    await app.close({ drainIdle: 0 })
    rmSync(folder, { recursive: true })
  })
  const ask = (path: string, init: RequestInit = {}) => fetch(url + path, init)
  const get = (path: string, headers: Record<string, string> = {}) => ask(path, { headers })
  return { app, folder, ask, get, host: () => new URL(url).host }
}

export async function problem(reply: Response, status: number) {
  assert.equal(reply.status, status)
  assert.match(reply.headers.get('content-type') ?? '', /^application\/problem\+json/)
  const body = (await reply.json()) as {
    status: number
    detail: string
    code?: string
    errors?: { in: string; pointer: string; detail: string }[]
  }
  assert.equal(body.status, status)
  return body
}
