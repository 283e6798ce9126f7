/** Where the type check of `volant dev` keeps what it knows. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { memoryOf } from '../src/cluster/type-check.ts'

const windows = process.getuid === undefined ? 'the folder for temporary files is the user’s own' : false

let root: string
let project: string
let temporary: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'type-check-'))
  project = join(root, 'work/app')
  temporary = join(root, 'tmp')
  mkdirSync(project, { recursive: true })
  mkdirSync(temporary)
})
afterEach(() => rmSync(root, { recursive: true }))

const folderOf = (file: string | null): string => dirname(String(file))

test('in the nearest node_modules, in which each project has a file of its own', () => {
  mkdirSync(join(root, 'work/node_modules'))
  const cache = join(root, 'work/node_modules/.cache/volant')
  const file = memoryOf(project, temporary)
  assert.equal(folderOf(file), cache)
  assert.notEqual(memoryOf(join(root, 'work/other'), temporary), file)
  mkdirSync(join(project, 'node_modules'))
  assert.equal(folderOf(memoryOf(project, temporary)), join(project, 'node_modules/.cache/volant'))
})

test('else in a folder that nobody else may enter', { skip: windows }, () => {
  const own = folderOf(memoryOf(project, temporary))
  assert.equal(dirname(own), temporary)
  assert.ok(own.endsWith(`-${process.getuid?.()}`))
  assert.equal(statSync(own).mode & 0o777, 0o700)
  assert.equal(folderOf(memoryOf(project, temporary)), own, 'it is used again')
  chmodSync(own, 0o777)
  assert.equal(memoryOf(project, temporary), null, 'others could put a link there')
})

test('a link that somebody has put there is not followed', { skip: windows }, () => {
  const own = folderOf(memoryOf(project, temporary))
  rmSync(own, { recursive: true })
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere, { mode: 0o700 })
  symlinkSync(elsewhere, own)
  assert.equal(memoryOf(project, temporary), null)
})

test('nowhere if there is no place to write to', () => {
  assert.equal(memoryOf(project, join(root, 'missing')), null)
})
