import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCriterion } from '../src/criterion.ts'

test('the newest estimate of every benchmark is read: the median and its interval, ns', () => {
  const folder = mkdtempSync(join(tmpdir(), 'criterion-'))
  const write = (path: string, point: number): void => {
    mkdirSync(join(folder, path), { recursive: true })
    const estimate = {
      confidence_interval: { confidence_level: 0.95, lower_bound: point - 1, upper_bound: point + 1 },
      point_estimate: point,
      standard_error: 0.1,
    }
    const content = { mean: { ...estimate, point_estimate: 1e9 }, median: estimate, slope: null }
    writeFileSync(join(folder, path, 'estimates.json'), JSON.stringify(content))
  }
  try {
    write('wire/parse/minimal/new', 100)
    write('wire/parse/minimal/base', 900)
    write('wire/parse/minimal/change', 0.1)
    write('route/static/new', 20)
    assert.deepEqual(readCriterion(folder), [
      { name: 'route/static', nanoseconds: 20, low: 19, high: 21 },
      { name: 'wire/parse/minimal', nanoseconds: 100, low: 99, high: 101 },
    ])
    assert.deepEqual(readCriterion(join(folder, 'nonesuch')), [])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
