import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Random } from '@volant/test-kit'
import { methods, type Method, type RouterOptions } from '@volant/engine'
import { RouteTable, type Found } from '../src/routing/router.ts'
import { RouteConflictError } from '../src/routing/shapes.ts'
import { assertProportional } from './proportional.ts'

interface Table {
  routes: string[]
  options?: Partial<RouterOptions>
}
type Lookup = [method: string, path: string, answer: string | 404 | 405, more?: string[]]
interface Cases {
  sets: (Table & { name: string; lookups: Lookup[] })[]
  conflicts: (Table & { add: string; existing: string })[]
  together: Table[]
}

const cases = JSON.parse(
  readFileSync(new URL('../../../../crates/route/cases/routes.json', import.meta.url), 'utf8'),
) as Cases

function add(router: RouteTable, route: string, id: number): void {
  const at = route.indexOf(' ')
  router.add(route.slice(0, at), route.slice(at + 1), id)
}

function filled({ routes, options }: Table): RouteTable {
  const router = new RouteTable({ caseSensitive: true, ignoreTrailingSlash: false, methods: [], ...options })
  for (const [id, route] of routes.entries()) add(router, route, id)
  return router
}

function bits(names: readonly string[], { methods: registered = [] }: Partial<RouterOptions> = {}): number {
  const all: readonly string[] = [...methods, ...registered]
  return names.reduce((set, name) => set | (1 << all.indexOf(name)), 0)
}

for (const set of cases.sets) {
  test(`lookups: ${set.name}`, () => {
    const router = filled(set)
    for (const [method, path, answer, more] of set.lookups) {
      let expected: Found
      if (answer === 404) expected = { id: -1, allow: 0, params: [] }
      else if (answer === 405) expected = { id: -2, allow: bits(more ?? [], set.options), params: [] }
      else if (answer === 'OPTIONS') expected = { id: -3, allow: bits(more ?? [], set.options), params: [] }
      else expected = { id: set.routes.indexOf(answer), allow: 0, params: more ?? [] }
      assert.deepEqual(router.find(method, path), expected, `${method} ${path}`)
    }
  })
}

test('the table is large enough', () => {
  assert.ok(cases.sets.reduce((count, set) => count + set.lookups.length, 0) >= 150)
})

test('conflicts name both routes and change nothing', () => {
  for (const conflict of cases.conflicts) {
    const router = filled(conflict)
    const [method = '', pattern = ''] = conflict.add.split(' ')
    assert.throws(
      () => add(router, conflict.add, 99),
      (error) => {
        assert.ok(error instanceof RouteConflictError)
        assert.equal(error.code, 'E_ROUTE_CONFLICT')
        assert.equal(
          error.message,
          `Route ${method} ${pattern} conflicts with ${method} ${conflict.existing}: both match the same paths. ` +
            'Remove one of them, or make their static text differ.',
        )
        return true
      },
    )
    for (const path of ['/', '/a', '/a/b', '/a/b/c', '/a/x.svg', '/caf%C3%A9']) {
      assert.notEqual(router.find('GET', path).id, 99, `${conflict.add} ${path}`)
    }
  }
})

test('routes that differ live together', () => {
  for (const table of cases.together) assert.doesNotThrow(() => filled(table))
})

test('a method that is none', () => {
  const router = filled({ routes: ['GET /a', 'POST /a/:x'] })
  assert.throws(() => router.add('TRACE', '/a', 0), { code: 'E_BAD_OPTION', message: /TRACE/ })
  assert.deepEqual(router.find('TRACE', '/a'), {
    id: -2,
    allow: bits(['GET', 'HEAD', 'OPTIONS']),
    params: [],
  })
  assert.deepEqual(router.find('get', '/a/1'), { id: -2, allow: bits(['POST', 'OPTIONS']), params: [] })
  assert.equal(router.find('constructor', '/b').id, -1)
})

/** One segment of a generated pattern: how it is written, what it matches, how specific it is. */
interface Piece {
  text: string
  match: RegExp
  rank: number
}

const pieces: Piece[] = [
  ...['a', 'b', 'ab', 'abc', 'a.x', ''].map((text) => ({
    text,
    match: new RegExp(`^${text.replace('.', '\\.')}$`),
    rank: 0,
  })),
  { text: ':S.x.x', match: /^([^/]+)\.x\.x$/, rank: 1 },
  { text: ':S.x', match: /^([^/]+)\.x$/, rank: 2 },
  { text: ':S-d', match: /^([^/]+)-d$/, rank: 2 },
  { text: ':S', match: /^([^/]+)$/, rank: 3 },
]

const words = ['a', 'b', 'ab', 'abc', 'a.x', 'a.x.x', 'q-d', '', '.x', 'z']

test('random tables against trying every route', () => {
  let found = 0
  let missed = 0
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Random(seed * 2654435)
    const router = new RouteTable({ caseSensitive: true, ignoreTrailingSlash: false, methods: [] })
    const routes: { method: Method; pieces: Piece[]; wildcard: boolean; shape: string; id: number }[] = []
    for (let id = 0; id <= random.below(40); id++) {
      const own = Array.from({ length: 1 + random.below(4) }, () => random.pick(pieces))
      const wildcard = random.below(6) === 0
      const method = random.pick(methods)
      const pattern =
        own.map((piece, at) => `/${piece.text.replace('S', `p${at}`)}`).join('') + (wildcard ? '/*' : '')
      const shape = `${method}${own.map((piece) => `/${piece.text}`).join('')}${wildcard ? '/*' : ''}`
      if (routes.some((route) => route.shape === shape)) {
        assert.throws(() => router.add(method, pattern, id), RouteConflictError, pattern)
      } else {
        router.add(method, pattern, id)
        routes.push({ method, pieces: own, wildcard, shape, id })
      }
    }
    for (let i = 0; i < 150; i++) {
      const route = random.pick(routes)
      const near = random.below(3) === 0 ? [] : route.pieces
      const segments = near.map(({ text }) => text.replace(':S', () => random.pick(['a', 'q', 'a.x'])))
      while (segments.length === 0 || random.below(3) === 0) segments.push(random.pick(words))
      if (random.below(4) === 0) segments[random.below(segments.length)] = random.pick(words)
      const path = `/${segments.join('/')}`
      const method = random.below(2) === 0 ? route.method : random.pick(methods)
      let allow = 0
      let best: { rank: string; id: number; params: string[] } | undefined
      for (const route of routes) {
        const params = match(route.pieces, route.wildcard, path)
        if (params === null) continue
        allow |= bits([route.method])
        if (route.method !== method && !(method === 'HEAD' && route.method === 'GET')) continue
        const own = route.method === method ? 0 : 1
        const rank =
          route.pieces.map((piece) => piece.rank).join('') + (route.wildcard ? '9' : '') + `:${own}`
        if (best === undefined || rank < best.rank) best = { rank, id: route.id, params }
      }
      const miss = allow === 0 ? -1 : method === 'OPTIONS' ? -3 : -2
      if (allow !== 0) allow |= bits(['OPTIONS']) | (allow & 1 ? bits(['HEAD']) : 0)
      const expected = best ? { id: best.id, allow: 0, params: best.params } : { id: miss, allow, params: [] }
      assert.deepEqual(router.find(method, path), expected, `seed ${seed}: ${method} ${path}`)
      if (best) found++
      else missed++
    }
  }
  assert.ok(found > 5_000 && missed > 5_000, `${found} ${missed}`)
})

function match(own: readonly Piece[], wildcard: boolean, path: string): string[] | null {
  const segments = path.slice(1).split('/')
  const rest = segments.slice(own.length).join('/')
  if (wildcard ? rest === '' : segments.length !== own.length) return null
  const params: string[] = []
  for (const [at, piece] of own.entries()) {
    const found = piece.match.exec(segments[at] ?? '/')
    if (found === null) return null
    if (found[1] !== undefined) params.push(found[1])
  }
  if (wildcard) params.push(rest)
  return params
}

test('a lookup takes time at most in proportion to the path: time(2n) / time(n) ≤ 2.2', () => {
  const routes: string[] = []
  for (let choices = 0; choices < 32; choices++) {
    const segment = (at: number): string => ((choices >> at) & 1 ? `/:p${at}` : '/a')
    routes.push(`GET ${[0, 1, 2, 3, 4].map(segment).join('')}/end`)
  }
  routes.push('GET /s/:x.a/end', 'GET /s/:x.a.a/end', 'GET /s/:x-a/end', 'GET /s/:x/end')
  routes.push(
    'GET /w/:x/*rest',
    'GET /w/*rest',
    `GET ${'/d'.repeat(250)}/:last`,
    `GET /${'t'.repeat(4000)}/:x`,
  )
  const router = filled({ routes })
  const shapes: Record<string, (size: number) => string> = {
    'no route': (size) => `/${'x'.repeat(size)}`,
    'a parameter': (size) => `/s/${'x'.repeat(size)}`,
    suffixes: (size) => `/s/${'.a-a'.repeat(size / 4)}`,
    'text of a pattern': (size) => `/${'t'.repeat(size)}`,
    choices: (size) => '/a'.repeat(size / 2),
    'empty segments': (size) => '/'.repeat(size),
    'a wildcard': (size) => `/w${'/b'.repeat(size / 2)}`,
    'deep text': (size) => '/d'.repeat(size / 2),
    '1,000 segments and more': (size) => `/${'seg.a/'.repeat(size / 6)}`,
    'five long segments': (size) => `${`/${'a'.repeat(size / 5)}`.repeat(5)}/no`,
  }
  for (const [name, shape] of Object.entries(shapes)) {
    for (const method of ['GET', 'POST']) {
      assertProportional(`${name}, ${method}`, shape, (path) => router.find(method, path))
    }
  }
})
