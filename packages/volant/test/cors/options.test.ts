/** Options of `cors` that make no sense. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cors, type CorsOptions, type VolantError } from 'volant'
import { here } from './kit.ts'

describe('cors', () => {
  const nonsense: [string, unknown][] = [
    ['cors', null],
    ['cors', '*'],
    ['origins', { origins: '*' }],
    ['credentials', { credentials: true }],
    ['credentials', { origin: '*', credentials: true }],
    ['credentials', { origin: here, credentials: 'yes' }],
    ['origin', { origin: true }],
    ['origin', { origin: [] }],
    ['origin', { origin: [5] }],
    ['origin', { origin: ['*'] }],
    ['origin', { origin: 'app.example' }],
    ['origin', { origin: `${here}/` }],
    ['origin', { origin: `${here}:443` }],
    ['origin', { origin: `${here}/path` }],
    ['origin', { origin: `${here}\r\nx: y` }],
    ['origin', { origin: 'null', credentials: true }],
    ['origin', { origin: /app\.example/ }],
    ['origin', { origin: /app\.example$/ }],
    ['methods', { methods: 'GET' }],
    ['methods', { methods: ['GET, PUT'] }],
    ['allowedHeaders', { allowedHeaders: ['a b'] }],
    ['allowedHeaders', { allowedHeaders: ['*'], origin: here, credentials: true }],
    ['exposedHeaders', { exposedHeaders: ['a\r\nb'] }],
    ['maxAge', { maxAge: -1 }],
    ['maxAge', { maxAge: '600' }],
    ['maxAge', { maxAge: 1.5 }],
    ['maxAge', { maxAge: Infinity }],
    ['privateNetwork', { privateNetwork: 1 }],
  ]

  for (const [name, given] of nonsense) {
    test(`the option ${JSON.stringify(given, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))} is refused`, () => {
      assert.throws(
        () => cors(given as CorsOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }
})
