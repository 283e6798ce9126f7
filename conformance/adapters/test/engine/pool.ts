/** A test runner's worker pool: COUNT tasks on threads, as vitest and others run them. ISOLATED: a thread for each. */
import { Tinypool } from 'tinypool'

const [count, isolated] = process.argv.slice(2)
const pool = new Tinypool({
  filename: new URL('./pool-task.js', import.meta.url).href,
  runtime: 'worker_threads',
  minThreads: 0,
  maxThreads: 3,
  isolateWorkers: isolated === 'isolated',
})
const nonces = Array.from({ length: Number(count) }, (_, index) => index)
const answers = await Promise.all(nonces.map((nonce) => pool.run(nonce) as Promise<number>))
await pool.destroy()
console.log(`${answers.filter((answer, index) => answer === index).length} right`)
