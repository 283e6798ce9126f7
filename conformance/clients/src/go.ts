/** The client written in Go: compiled once, into `.cache` at the root of the repository. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Running, start } from './program.ts'
import type { Site } from './site.ts'

const sources = fileURLToPath(new URL('../../go', import.meta.url))
const program = fileURLToPath(new URL('../../../../.cache/go-client/client', import.meta.url))
/** The environment of Go's programs, whose folder is often not in PATH. */
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/local/go/bin`, GOTOOLCHAIN: 'local' }

/** The reason to skip tests that need Go; false if they run. */
export const withoutGo: string | false = /go1\.(2[4-9]|[3-9]\d)/.test(
  spawnSync('go', ['version'], { env, encoding: 'utf8' }).stdout ?? '',
)
  ? false
  : 'Go 1.24 is not installed'

/** Starts the client with the site to ask. */
export function startGo(site: Site, proto: 'HTTP/1.1' | 'HTTP/2.0', ...options: string[]): Running {
  return start(program, ['-url', site.url, '-ca', site.place.authority.file, '-proto', proto, ...options])
}

// Not within a test, whose time is limited: it takes minutes on a busy machine.
if (withoutGo === false) compile()

function compile(): void {
  const changed = Math.max(...['main.go', 'go.mod'].map((file) => statSync(join(sources, file)).mtimeMs))
  if (existsSync(program) && statSync(program).mtimeMs > changed) return
  mkdirSync(dirname(program), { recursive: true })
  // Test files may compile the program at the same time.
  const own = `${program}-${process.pid}`
  const { status, stderr } = spawnSync('go', ['build', '-o', own, '.'], {
    cwd: sources,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the client in Go does not compile: ${stderr}`)
  renameSync(own, program)
}
