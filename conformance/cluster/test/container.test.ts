/** Workers in a memory control group, as containers have one. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { appOf, askOnce, withCluster } from '../src/index.ts'

const limit = 800 * 2 ** 20
const group = makeGroup()
after(async () => {
  if (group === null) return
  // It can be removed when the last process in it has ended.
  await eventually(() => readFileSync(`${group}/cgroup.procs`, 'utf8') === '', 'the group is empty')
  rmdirSync(group)
})

/** Makes a group with the limit, of version 2 or 1. Gives its folder; null where that is not allowed. */
function makeGroup(): string | null {
  const isNew = existsSync('/sys/fs/cgroup/cgroup.controllers')
  const folder = `/sys/fs/cgroup${isNew ? '' : '/memory'}/volant-test-${process.pid}`
  try {
    mkdirSync(folder)
  } catch {
    return null
  }
  try {
    writeFileSync(`${folder}/${isNew ? 'memory.max' : 'memory.limit_in_bytes'}`, String(limit))
    return folder
  } catch {
    rmdirSync(folder)
    return null
  }
}

const skip = group === null ? 'a control group cannot be made here' : false
const wrapper = ['sh', '-c', `echo $$ > ${group}/cgroup.procs; exec "$@"`, 'sh']
const files = {
  'main.js': appOf({ before: "app.get('/options', () => ({ execArgv: process.execArgv }))" }),
}

describe('a memory limit', { skip }, () => {
  test('the heaps of all workers together may have three quarters of it', () =>
    withCluster({ workers: 2, files, wrapper }, async ({ port }) => {
      const { execArgv } = JSON.parse((await askOnce(port, '/options')).text)
      assert.deepEqual(execArgv, ['--max-old-space-size=300'])
    }))

  for (const options of [
    { execArgv: ['--max-old-space-size=123'] },
    { env: { NODE_OPTIONS: '--max-old-space-size=123' } },
  ])
    test(`an option of one's own stands: ${JSON.stringify(options)}`, () =>
      withCluster({ workers: 2, files, wrapper, ...options }, async ({ port }) => {
        const { execArgv } = JSON.parse((await askOnce(port, '/options')).text)
        assert.deepEqual(execArgv, options.execArgv ?? [])
      }))
})

test('without a memory limit there is no option', { skip: hasLimit() && 'this process has a limit' }, () =>
  withCluster({ workers: 1, files }, async ({ port }) => {
    assert.deepEqual(JSON.parse((await askOnce(port, '/options')).text), { execArgv: [] })
  }),
)

/** Numbers past 2^53 stand for none. */
function hasLimit(): boolean {
  return Number.isSafeInteger(process.constrainedMemory()) && process.constrainedMemory() > 0
}
