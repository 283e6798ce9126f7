/** A profile on a free port. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Profile, ProfileName, Settings } from '../../src/profiles.ts'
import { profiles } from '../../src/profiles.ts'

export const token = 'valid-token'

export const authorization = `Bearer ${token}`

export interface Ask extends RequestInit {
  headers?: Record<string, string>
}

export type Answer = Response & { value: unknown }

/** Serves a profile on a free port while `run` asks it. */
export async function serving(
  name: ProfileName,
  run: (ask: (path: string, init?: Ask) => Promise<Answer>) => Promise<void>,
  settings: Partial<Settings> = {},
): Promise<void> {
  const profile: Profile = profiles[name]
  const folder = mkdtempSync(join(tmpdir(), 'profiles-'))
  const app = await profile.create(
    { signals: false },
    { database: join(folder, `${name}.db`), token, ...settings },
  )
  const { url } = await app.listen(0, '127.0.0.1')
  try {
    await run(async (path, init = {}) => {
      const reply = await fetch(url + path, init)
      const text = await reply.text()
      const isJson = reply.headers.get('content-type')?.includes('json') === true
      return Object.assign(reply, { value: isJson ? JSON.parse(text) : text })
    })
  } finally {
    await app.close({ drainIdle: 0 })
    rmSync(folder, { recursive: true })
  }
}

export const json = (body: unknown, method = 'POST'): Ask => ({
  method,
  headers: { 'content-type': 'application/json', authorization },
  body: JSON.stringify(body),
})
