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

/** time(8n) / time(n), which is 8 where the time is in proportion to the length, and 64 where it is its square. */
const betweenProportionalAndSquare = 24

/**
 * A quicker look that finds what is quadratic: texts of 2 KiB and of 16 KiB are run in turn until the least times show that
 * it is not, since what else the machine does can only add.
 */
export function assertNotQuadratic(
  name: string,
  shape: (size: number) => string,
  run: (text: string) => unknown,
): void {
  const short = flat(shape(2 << 10))
  const long = flat(shape(16 << 10))
  let [leastShort, leastLong] = [Infinity, Infinity]
  const ratio = (): number => leastLong / leastShort
  for (let attempt = 0; attempt < 50 && !(ratio() <= betweenProportionalAndSquare); attempt++) {
    leastShort = Math.min(
      leastShort,
      timeOf(() => run(short)),
    )
    leastLong = Math.min(
      leastLong,
      timeOf(() => run(long)),
    )
  }
  assert.ok(ratio() <= betweenProportionalAndSquare, `${name}: ${ratio().toFixed(1)}`)
}

/** Processor time, in µs: a machine that does other work adds less to it than to what a clock shows. */
function timeOf(run: () => unknown): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return user + system
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
