/**
 * A process that publishes to each topic as many messages, `NAME:NUMBER`, as its parent says, and answers with how many it
 * has published to each so far.
 */
import { type BusName, joinBus } from './servers.ts'

const [name, port, own, ...topics] = process.argv.slice(2)
const { bus, end } = await joinBus(name as BusName, Number(port), { report: () => {} })
let published = 0
process.on('message', (count: number) => {
  for (let each = 0; each < count; each++) {
    for (const topic of topics) bus.publish(topic, `${own}:${published}`)
    published++
  }
  process.send?.({ published, stats: bus.stats() })
})
process.once('disconnect', () => void end())
process.send?.('ready')
