/** The guide's table of middlewares has those that this suite runs, with the versions that are installed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { versionOf } from '../src/layers.ts'
import { seventeen } from '../src/seventeen.ts'

const page = readFileSync(new URL('../../../../docs/guide/26-connect-middleware.md', import.meta.url), 'utf8')

test('each middleware has a row with its version', () => {
  const rows = [...page.matchAll(/^\| ([a-z-]+) \| (\d+\.\d+\.\d+) \|/gm)].map(
    ([, name, version]) => `${name} ${version}`,
  )
  const installed = Object.keys(seventeen).map((name) => `${name} ${versionOf(name)}`)
  assert.deepEqual(rows, installed.toSorted())
})

test('it names the versions of Express and passport-local', () => {
  const { express4, express5 } = { express4: versionOf('express4'), express5: versionOf('express') }
  assert.ok(page.includes(`Express ${express4} and ${express5} apps`))
  assert.ok(page.includes(`passport-local ${versionOf('passport-local')}:`))
})
