/** Our generator beside wrk, in one run: its ceiling against the limit, and whether both see the same of servers. */
import { chooseCores } from './cores.ts'
import { entryOf } from './entry.ts'
import { needProgram } from './generators/generator.ts'
import { installEntry } from './install.ts'
import { measure } from './measures/index.ts'
import type { Finding, Method } from './measures/measurement.ts'
import type { MetricName } from './metrics.ts'
import { scenarioOf } from './scenario.ts'
import { type Estimate, pairedRatio, summarize } from './statistics.ts'
import { type Column, renderTable } from './table.ts'

/** The first is where the generator is the bottleneck. */
const servers = ['limit', 'native', 'node', 'fastify']
const generators = ['load', 'wrk'] as const

const columns: readonly Column[] = [
  { title: 'server', align: 'left' },
  { title: 'lane', align: 'left' },
  { title: 'load requests/s', align: 'right' },
  { title: 'wrk requests/s', align: 'right' },
  { title: 'load / wrk', align: 'right' },
  { title: '95 %', align: 'right' },
  { title: 'CPU µs with load', align: 'right' },
  { title: 'with wrk', align: 'right' },
  { title: 'load / wrk', align: 'right' },
  { title: '95 %', align: 'right' },
]

/** Prints the table; false when a measurement failed or our ceiling is below wrk's. */
export async function generatorAgreement(rounds: number): Promise<boolean> {
  needProgram('wrk')
  const scenario = scenarioOf('ramapi-json')
  const rows: string[][] = []
  let sound = true
  for (const variant of scenario.variants) {
    for (const name of servers) {
      const entry = entryOf(name)
      await installEntry(entry)
      const found: Record<(typeof generators)[number], Finding[]> = { load: [], wrk: [] }
      for (let round = 0; round < rounds; round += 1) {
        for (const generator of round % 2 ? generators.toReversed() : generators) {
          const method: Method = {
            warmup: null,
            window: 1.5,
            windowAsked: true,
            generator,
            cores: chooseCores(),
            port: 0,
            quick: false,
            soak: null,
          }
          found[generator].push(await measure({ entry, scenario, variant, method }))
        }
      }
      const [own, other] = [found.load, found.wrk]
      const fault = [...own, ...other].find(({ status }) => status !== 'measured')
      if (fault) {
        console.log(`${name}, ${variant.name}: ${fault.status}: ${fault.reason ?? ''}`)
        sound = false
        continue
      }
      const rate = pairedRatio(values(own, 'rate'), values(other, 'rate'))
      const cpu = pairedRatio(values(own, 'cpu'), values(other, 'cpu'))
      if (name === 'limit' && rate.high < 1) sound = false
      rows.push([
        name,
        variant.name,
        whole(summarize(values(own, 'rate'))),
        whole(summarize(values(other, 'rate'))),
        ...told(rate),
        summarize(values(own, 'cpu')).median.toFixed(2),
        summarize(values(other, 'cpu')).median.toFixed(2),
        ...told(cpu),
      ])
    }
  }
  for (const line of renderTable(columns, rows)) console.log(line)
  console.log(
    `${rounds} interleaved rounds of 1.5 s; against the limit the generators are compared, elsewhere the server is the bottleneck`,
  )
  return sound
}

function values(findings: readonly Finding[], name: MetricName): number[] {
  return findings.map(({ metrics }) => metrics[name] as number)
}

function whole({ median }: Estimate): string {
  return Math.round(median).toLocaleString('en-US')
}

function told({ median, low, high }: Estimate): string[] {
  return [median.toFixed(3), `${low.toFixed(3)}–${high.toFixed(3)}`]
}
