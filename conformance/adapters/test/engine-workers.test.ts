import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Child } from './engine/child.ts'
import { skip } from './engine/native.ts'
import type { Ending } from './engine/worker.ts'

/** 200 workers with the engine alone, and 100 with an app. */
const programs = [
  { program: 'bare-worker', holds: 'with the engine', share: 1 },
  { program: 'worker', holds: 'with an app', share: 0.5 },
]

const endings: [Ending, number, number, string][] = [
  ['idle', 60, 2, 'terminated while they listen'],
  ['idle', 20, 8, 'terminated while they listen, 8 at once'],
  ['in-flight', 40, 4, 'terminated with a request in flight'],
  ['busy', 30, 2, 'terminated while a handler runs'],
  ['exit', 30, 4, 'ending by process.exit right after a reply'],
  ['natural', 20, 4, 'ending by themselves once their app is closed'],
]

for (const { program, holds, share } of programs) {
  for (const [ending, most, atOnce, what] of endings) {
    const count = most * share
    test(`${count} workers ${holds} ${what}`, { skip }, async () => {
      const { code, signal, output, errors } = await new Child('workers', [
        program,
        ending,
        `${count}`,
        `${atOnce}`,
      ]).outcome
      assert.deepEqual({ code, signal, errors }, { code: 0, signal: null, errors: '' })
      const { before, after, replies } = JSON.parse(output) as Record<string, number>
      assert.ok((after as number) <= (before as number), `file descriptors: ${before} before, ${after} after`)
      if (ending === 'exit' || ending === 'natural') assert.equal(replies, count)
    })
  }
}
