/** The reference service for the time of one check: on a free port, with a database of its own and a token that is known. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './command.mjs'

const token = 'check'

/** Gives what `use(url, authorization, folder)` gives; the folder is an empty one that is removed with the service. */
export async function serveReference(use) {
  const folder = mkdtempSync(join(tmpdir(), 'volant-reference-'))
  const server = spawn(process.execPath, [join(root, 'examples/reference-api/dist/src/server.js')], {
    env: {
      ...process.env,
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE: join(folder, 'users.db'),
      API_TOKEN: token,
      RATE_LIMIT: '60000000',
      LOG: 'false',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    return await use(await addressOf(server), `Bearer ${token}`, folder)
  } finally {
    if (server.exitCode === null) {
      server.kill('SIGTERM')
      await once(server, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The first line tells; what comes after it is the log of requests, which nobody reads. */
async function addressOf(server) {
  const lines = createInterface(server.stdout)
  const gone = once(server, 'exit').then(() => {
    throw new Error('the reference service did not start')
  })
  gone.catch(() => {})
  for (;;) {
    const [line] = await Promise.race([once(lines, 'line'), gone])
    const url = /^Listening on (\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
}
