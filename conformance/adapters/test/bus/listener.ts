/** A process that listens to a topic, and answers each message of its parent with what it has heard. */
import { type BusName, joinBus } from './servers.ts'
import { Tally } from './tally.ts'

const [name, port, topic] = process.argv.slice(2) as [string, string, string]
const { bus, end } = await joinBus(name as BusName, Number(port), { report: () => {} })
const tally = new Tally()
bus.subscribe(topic, tally)
await bus.ready(topic)
process.on('message', () => process.send?.(tally.figures()))
process.once('disconnect', () => void end())
process.send?.('ready')
