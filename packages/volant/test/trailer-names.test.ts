/** Checks that the engine and the framework allow the same fields as trailers. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = new URL('../../../../', import.meta.url)

/** Gives the strings of a source file before `end`, sorted. */
function names(path: string, end: string, pattern: RegExp): string[] {
  const source = readFileSync(new URL(path, root), 'utf8')
  assert.ok(source.includes(end), `${path} has no ${end}`)
  return [...source.slice(0, source.indexOf(end)).matchAll(pattern)].map(([, name]) => String(name)).sort()
}

test('both lists of fields that may not be trailers have the same names', () => {
  const engine = names('crates/wire/src/trailers.rs', 'pub fn is_refused', /b"([a-z-]+)"/g)
  const framework = names(
    'packages/volant/src/request/trailers.ts',
    'export function isTrailer',
    /^ {2}'([a-z-]+)'/gm,
  )
  assert.ok(engine.includes('content-length'))
  assert.deepEqual(framework, engine)
})
