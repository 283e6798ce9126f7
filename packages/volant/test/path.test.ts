import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  canonicalPath,
  maxParams,
  maxPattern,
  maxSegments,
  parsePattern,
  RoutePatternError,
} from '../src/routing/path.ts'
import { assertProportional } from './proportional.ts'

const cases = new URL('../../../../crates/route/cases/', import.meta.url)
const paths = JSON.parse(readFileSync(new URL('paths.json', cases), 'utf8')) as [string, string | null][]
const { bad } = JSON.parse(readFileSync(new URL('routes.json', cases), 'utf8')) as { bad: [string, string][] }

test('every spelling of the shared table', () => {
  assert.ok(paths.length >= 500)
  for (const [raw, canonical] of paths) assert.equal(canonicalPath(raw), canonical, JSON.stringify(raw))
})

test('a canonical path is its own canonical path', () => {
  for (const [, canonical] of paths) if (canonical !== null) assert.equal(canonicalPath(canonical), canonical)
})

test('the text of a pattern is spelled as paths are', () => {
  let used = 0
  for (const [raw, canonical] of paths) {
    // What has a meaning of its own in a pattern: a parameter, a wildcard, text outside ASCII.
    if (raw.includes('/:') || raw.includes('*') || /[^\0-\x7f]/.test(raw)) continue
    const pattern = raw.replaceAll(':', '::')
    if (canonical === null) {
      assert.throws(() => parsePattern(pattern), RoutePatternError, JSON.stringify(raw))
    } else {
      const text = parsePattern(pattern).segments.map((s) => (s.kind === 'text' ? `/${s.text}` : ''))
      assert.equal(text.join(''), canonical, raw)
    }
    used++
  }
  assert.ok(used >= 500)
})

test('bad patterns are refused with a reason', () => {
  for (const [pattern, reason] of bad) {
    assert.throws(
      () => parsePattern(pattern),
      (error) => {
        assert.ok(error instanceof RoutePatternError, pattern)
        assert.equal(error.reason, reason, pattern)
        assert.equal(error.code, 'E_ROUTE_PATTERN')
        return error.message.startsWith(`Route pattern "${pattern}": `)
      },
    )
  }
  assert.throws(() => parsePattern('/\ud800'), { reason: 'BadText' })
  assert.throws(() => parsePattern('/\udc00a'), { reason: 'BadText' })
})

test('limits of a pattern', () => {
  const params = (count: number): string => Array.from({ length: count }, (_, i) => `/:p${i}`).join('')
  assert.equal(parsePattern(params(maxParams)).names.length, maxParams)
  assert.throws(() => parsePattern(params(maxParams + 1)), { reason: 'TooManyParameters' })
  assert.equal(parsePattern('/a'.repeat(maxSegments)).segments.length, maxSegments)
  assert.throws(() => parsePattern('/a'.repeat(maxSegments + 1)), { reason: 'TooManySegments' })
  parsePattern(`/${'é'.repeat((maxPattern - 2) / 2)}`)
  assert.throws(() => parsePattern(`/${'é'.repeat(maxPattern / 2)}`), { reason: 'TooLong' })
})

test('segments and names in order', () => {
  assert.deepEqual(parsePattern('/caf%c3%a9/:a/:b.svg/x::y/:c?/:d?').names, ['a', 'b', 'c', 'd'])
  assert.deepEqual(parsePattern('/caf%c3%a9/:a/:b.svg/x::y/*'), {
    segments: [
      { kind: 'text', text: 'caf%C3%A9' },
      { kind: 'param', name: 'a', suffix: '', optional: false },
      { kind: 'param', name: 'b', suffix: '.svg', optional: false },
      { kind: 'text', text: 'x:y' },
      { kind: 'wildcard', name: '*' },
    ],
    names: ['a', 'b', '*'],
    optional: 0,
  })
  const optional = parsePattern('/a/:b?/:c?')
  assert.equal(optional.optional, 2)
  assert.deepEqual(optional.segments.at(-1), { kind: 'param', name: 'c', suffix: '', optional: true })
  assert.deepEqual(parsePattern('/').segments, [{ kind: 'text', text: '' }])
  assert.deepEqual(parsePattern('/*rest').names, ['rest'])
})

test('canonicalPath takes time in proportion to the path: time(2n) / time(n) ≤ 2.2', () => {
  const shapes: Record<string, (size: number) => string> = {
    plain: (size) => `/${'a'.repeat(size)}`,
    slashes: (size) => '/'.repeat(size),
    dots: (size) => `/${'a.'.repeat(size / 2)}`,
    'dot segments at the end': (size) => `${'/...'.repeat(size / 4)}/..`,
    escapes: (size) => `/${'%2f%61'.repeat(size / 6)}`,
    text: (size) => `/${'%c3%a9'.repeat(size / 6)}`,
    'broken at the end': (size) => `/${'%c3%a9'.repeat(size / 6)}%c3`,
    'percent signs': (size) => `/${'%'.repeat(size)}`,
    'forbidden at the end': (size) => `/${'a.%20'.repeat(size / 5)}#`,
  }
  for (const [name, shape] of Object.entries(shapes)) assertProportional(name, shape, canonicalPath)
})
