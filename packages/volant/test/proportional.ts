/** Tests that a function takes time at most in proportion to the length of its text. */
import assert from 'node:assert/strict'

/** time(2n) / time(n) ≤ 2.2 as a mean over 4 KiB to 64 KiB, since one doubling may leave a cache of the processor. */
const fourDoublings = 2.2 ** 4

/** `shape` makes a text of about that many characters; the best of five attempts counts, as other work of the machine can only add. */
export function assertProportional(
  name: string,
  shape: (size: number) => string,
  run: (text: string) => unknown,
): void {
  const short = flat(shape(4 << 10))
  const long = flat(shape(64 << 10))
  let ratio = Infinity
  for (let attempt = 0; attempt < 5 && ratio > fourDoublings; attempt++) {
    ratio = best(() => run(long)) / best(() => run(short))
  }
  assert.ok(ratio <= fourDoublings, `${name}: ${ratio.toFixed(1)}`)
}

/** time(4n) / time(n), which is 4 where the time is in proportion to the length, and 16 where it is its square. */
const betweenProportionalAndSquare = 8

/**
 * A quicker look that finds what is quadratic: 4 KiB and 16 KiB are run once or a few times each. The least ratio of five
 * attempts counts.
 */
export function assertNotQuadratic(
  name: string,
  shape: (size: number) => string,
  run: (text: string) => unknown,
): void {
  const short = flat(shape(4 << 10))
  const long = flat(shape(16 << 10))
  run(short)
  let ratio = Infinity
  for (let attempt = 0; attempt < 5 && ratio > betweenProportionalAndSquare; attempt++) {
    ratio = Math.min(ratio, timeOf(() => run(long)) / timeOf(() => run(short)))
  }
  assert.ok(ratio <= betweenProportionalAndSquare, `${name}: ${ratio.toFixed(1)}`)
}

function timeOf(run: () => unknown): number {
  const start = process.hrtime.bigint()
  run()
  return Number(process.hrtime.bigint() - start)
}

/** As a server reads it; a fresh concatenation would be flattened within the first run. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** The best of many runs: what else the machine does can only add. */
function best(run: () => unknown): number {
  let repeat = 1
  let least = Infinity
  for (let round = 0; round < 40;) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < repeat; i++) run()
    const took = Number(process.hrtime.bigint() - start)
    if (took < 100_000) {
      repeat *= 2
      continue
    }
    least = Math.min(least, took / repeat)
    round++
  }
  return least
}
