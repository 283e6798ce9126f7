import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOf, queryOf } from '../src/client/address.ts'
import type { QueryValue } from '../src/client/types.ts'

const paths: [pattern: string, params: Record<string, unknown>, path: string | RegExp][] = [
  ['/', {}, '/'],
  ['/a/b', {}, '/a/b'],
  ['/a/', {}, '/a/'],
  ['/a//b', {}, '/a//b'],
  ['/time/12::30', {}, '/time/12:30'],
  ['/::a', {}, '/:a'],
  ['/:a', { a: 'x' }, '/x'],
  ['/:a/:b', { a: 1, b: true }, '/1/true'],
  ['/:a/x', { a: new Date(0) }, '/1970-01-01T00%3A00%3A00.000Z/x'],
  ['/:a', { a: 10n ** 20n }, '/100000000000000000000'],
  ['/:a.svg', { a: 'x.y' }, '/x.y.svg'],
  ['/:a.svg', { a: '.' }, '/..svg'],
  ['/:a-x::y', { a: 'b' }, '/b-x:y'],
  ['/:a', { a: '/' }, '/%2F'],
  ['/:a', { a: '\\' }, '/%5C'],
  ['/:a', { a: '%2e' }, '/%252e'],
  ['/:a', { a: '...' }, '/...'],
  ['/:a', { a: '.' }, /a cannot be "\."/],
  ['/:a', { a: '..' }, /a cannot be "\.\."/],
  ['/:a', { a: '' }, /a cannot be ""/],
  ['/:a.svg', { a: '' }, /a cannot be ""/],
  ['/:a', {}, /a is missing/],
  ['/:a', { a: null }, /a is missing/],
  ['/:a', { a: {} }, /a cannot be of type object/],
  ['/:a', { a: () => 1 }, /a cannot be of type function/],
  ['/:a', { a: Number.NaN }, /a cannot be "NaN"/],
  ['/:a', { a: Infinity }, '/Infinity'],
  ['/:a', { a: new Date(Number.NaN) }, /a cannot be "Invalid Date"/],
  ['/:a', { a: 'x\ud83d' }, /a cannot be "x\\ud83d"/],
  ['/:a', { a: '\ude00\ud83d' }, /a cannot be/],
  ['/:a', { a: '\ud83d\ude00' }, '/%F0%9F%98%80'],
  ['/*', { '*': 'a/\udfff/b' }, /\* cannot be/],
  ['/:toString', {}, /toString is missing/],
  ['/:a?', {}, '/'],
  ['/:a?', { a: 'x' }, '/x'],
  ['/x/:a?', {}, '/x'],
  ['/x/:a?/:b?', { a: 1 }, '/x/1'],
  ['/x/:a?/:b?', { b: 1 }, /a is missing/],
  ['/x/:a?', { a: '' }, /a cannot be ""/],
  ['/*', { '*': 'a/b' }, '/a/b'],
  ['/*rest', { rest: 'a b/ü' }, '/a%20b/%C3%BC'],
  ['/*rest', { rest: 'a//b/' }, '/a//b/'],
  ['/*rest', { rest: '/a' }, /rest cannot be/],
  ['/*rest', { rest: '\\a' }, '/%5Ca'],
  ['/*rest', { rest: 'a/../b' }, /rest cannot be/],
  ['/*rest', { rest: 'a/.' }, /rest cannot be/],
  ['/*rest', { rest: '' }, /rest cannot be/],
  ['/*rest', {}, /rest is missing/],
]

for (const [pattern, params, path] of paths) {
  test(`the path of ${pattern} with ${Object.values(params).map(String).join()}`, () => {
    if (typeof path === 'string') assert.equal(pathOf(pattern, params), path)
    else assert.throws(() => pathOf(pattern, params), { name: 'TypeError', message: path })
  })
}

const queries: [query: Record<string, unknown>, text: string | RegExp][] = [
  [{}, ''],
  [{ a: undefined, b: null, c: [] }, ''],
  [{ a: 1, b: 'x y', c: true }, '?a=1&b=x+y&c=true'],
  [{ a: [1, null, 'é&='] }, '?a=1&a=%C3%A9%26%3D'],
  [{ 'a[]': '' }, '?a%5B%5D='],
  [{ a: { b: 1 } }, /a cannot be of type object/],
  [{ a: [[1]] }, /a cannot be of type object/],
  [{ a: ['x', '\ud800'] }, /a cannot be "\\ud800"/],
  [{ a: new Date(Number.NaN) }, /a cannot be "Invalid Date"/],
  [{ a: Number.NaN }, /a cannot be "NaN"/],
]

for (const [query, text] of queries) {
  test(`the query of ${JSON.stringify(query)}`, () => {
    const given = query as Record<string, QueryValue>
    if (typeof text === 'string') assert.equal(queryOf(given), text)
    else assert.throws(() => queryOf(given), { name: 'TypeError', message: text })
  })
}
