import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badge } from '../src/badge.ts'

test('text of a badge cannot become markup', () => {
  const svg = badge(`<script>alert('x')</script>`, `a"b&c`)
  assert.doesNotMatch(svg, /<script|alert\('|a"b/)
  assert.match(svg, />&lt;script&gt;alert\(&#39;x&#39;\)&lt;\/script&gt;</)
  assert.match(svg, />a&quot;b&amp;c</)
  assert.match(svg, /aria-label="&lt;script&gt;[^"]*a&quot;b&amp;c"/)
})

test('characters that XML forbids are replaced', () => {
  assert.match(badge('a\0b', 'c\ud800d\u{1f600}'), />a\ufffdb<.*>c\ufffdd\u{1f600}</su)
})

test('a badge is as wide as its parts', () => {
  const width = (svg: string) => Number(/width="(\d+)"/.exec(svg)?.[1])
  assert.equal(width(badge('build', 'passing')), 5 * 7 + 12 + 7 * 7 + 12)
  assert.ok(width(badge('build', 'failing badly')) > width(badge('build', 'passing')))
})
