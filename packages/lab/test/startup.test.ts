import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barGroups, startServers } from '../src/bars.ts'
import { type Entry, entryOf } from '../src/roster.ts'
import { secondsOf } from '../src/run.ts'
import { startRound } from '../src/startup.ts'

const skip = process.platform === 'linux' ? false : 'the lab needs Linux'
const cores = { server: null, generator: null, label: 'not pinned' }

function entryRunning(script: string): Entry {
  return { ...entryOf('node'), name: 'test', command: () => [process.execPath, '-e', script] }
}

/** A server that begins to listen after `delay` ms and refuses the first requests. */
function server(delay: number, refusals: number): string {
  return `
    let asked = 0
    const server = require('http').createServer((request, response) => {
      asked += 1
      const right = request.url === '/json' && asked > ${refusals}
      response.writeHead(right ? 200 : 503).end(right ? '{"message":"Hello World"}' : '')
    })
    setTimeout(() => server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening on ' + process.env.PORT)), ${delay})`
}

test('the time runs from the spawn to the first right reply', { skip }, async () => {
  const start = async (script: string): Promise<number> => {
    const [sample] = await startRound(0, [entryRunning(script)], cores, () => {})
    return sample?.startMilliseconds ?? 0
  }
  const late = await start(server(400, 0))
  assert.ok(late >= 400 && late < 5_000, String(late))
  const refusing = await start(server(0, 20))
  assert.ok(refusing >= 20 && refusing < 5_000, String(refusing))
})

test('a server that ends before it answers is named', { skip }, async () => {
  const ends = entryRunning('throw new Error("no luck")')
  await assert.rejects(
    startRound(0, [ends], cores, () => {}),
    /test ended before it was ready \(1\): Error: no luck/,
  )
})

test('all bars take less than 15 minutes with the rounds they have by default', () => {
  const method = { rounds: 15, warmup: null, window: 1.5, connections: 100, depth: 10, cores }
  const starts = startServers.map(entryOf)
  const plan = { method, groups: barGroups([]), starts, startRounds: 15, file: undefined }
  assert.ok(secondsOf(plan) < 15 * 60, String(secondsOf(plan)))
})
