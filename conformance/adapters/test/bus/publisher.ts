/**
 * A process that publishes: to each topic `count` messages, `NAME:NUMBER`, and then one each 50 ms until its parent tells
 * it to stop. It answers with how many it has published to each topic.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type BusName, joinBus } from './servers.ts'

const [name, port, own, count, ...topics] = process.argv.slice(2)
const { bus, end } = await joinBus(name as BusName, Number(port), { report: () => {} })
let stops = false
process.once('message', () => (stops = true))
let published = 0
while (!stops) {
  const isDone = published >= Number(count)
  for (let each = 0; each < (isDone ? 1 : 10); each++) {
    for (const topic of topics) bus.publish(topic, `${own}:${published}`)
    published++
  }
  await sleep(isDone ? 50 : 2)
}
process.send?.({ published, stats: bus.stats() })
await end()
process.disconnect?.()
