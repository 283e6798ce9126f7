/** Our generator beside wrk, in one run: its ceiling against the limit, and whether both see the same of servers. */
import { isTie } from './analysis.ts'
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

/** The first is where the generator is the bottleneck; before the others it waits for the server. */
const servers = ['limit', 'native', 'uws', 'node', 'node-http', 'fastify']
/** Beyond this noise two generators that differ look alike. */
const mostNoise = 0.15

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
  { title: 'noise', align: 'right' },
  { title: 'agree', align: 'left' },
]

/**
 * Both are run twice, for the warm-up and for the window: on the connections of a second run servers on node:http cost
 * more than on those of the first, so that one run of ours beside two of wrk's would compare two things at once.
 *
 * Prints the table; false when a measurement failed, our ceiling is below wrk's, the two differ by more than ours
 * differs from itself where the server is the bottleneck, or the machine is too noisy to tell.
 */
export async function generatorAgreement(rounds: number): Promise<boolean> {
  needProgram('wrk')
  const scenario = scenarioOf('ramapi-json')
  const rows: string[][] = []
  let sound = true
  // Each is measured twice in a round: what load differs from itself is the noise.
  const sides = ['load', 'wrk', 'load'] as const
  for (const variant of scenario.variants.filter(({ lane }) => lane !== 'open loop')) {
    // wrk sends batches and waits for all of each, ours sends anew with each reply: other work for a server.
    for (const name of variant.lane === 'plain' ? servers : servers.slice(0, 1)) {
      const entry = entryOf(name)
      await installEntry(entry)
      const found: [Finding[], Finding[], Finding[]] = [[], [], []]
      for (let round = 0; round < rounds; round += 1) {
        for (const side of round % 2 ? ([2, 1, 0] as const) : ([0, 1, 2] as const)) {
          const generator = sides[side]
          const method: Method = {
            warmup: null,
            window: 1.5,
            windowAsked: true,
            generator,
            cores: chooseCores(),
            port: 0,
            quick: false,
            apart: true,
            soak: null,
          }
          found[side].push(await measure({ entry, scenario, variant, method }))
        }
      }
      const [own, other, again] = found
      const fault = found.flat().find(({ status }) => status !== 'measured')
      if (fault) {
        const what = fault.status === 'discarded' ? 'cannot tell, a round was discarded' : fault.status
        console.log(`${name}, ${variant.name}: ${what}: ${fault.reason ?? ''}`)
        sound = false
        continue
      }
      const rate = pairedRatio(values(own, 'rate'), values(other, 'rate'))
      const cpu = pairedRatio(values(own, 'cpu'), values(other, 'cpu'))
      const noise = Math.max(
        ...(['rate', 'cpu'] as const).map((metric) => {
          const { low, high } = pairedRatio(values(again, metric), values(own, metric))
          return Math.max(1 - low, high - 1)
        }),
      )
      // Where the server is the bottleneck both must see the same; against the limit ours must not be the slower one.
      const alike = name === 'limit' ? rate.high >= 1 : isTie(cpu, noise) && isTie(rate, noise)
      const agrees = noise > mostNoise ? 'cannot tell' : alike ? 'yes' : 'NO'
      sound &&= agrees === 'yes'
      rows.push([
        name,
        variant.name,
        whole(summarize(values(own, 'rate'))),
        whole(summarize(values(other, 'rate'))),
        ...told(rate),
        summarize(values(own, 'cpu')).median.toFixed(2),
        summarize(values(other, 'cpu')).median.toFixed(2),
        ...told(cpu),
        `±${(noise * 100).toFixed(1)} %`,
        agrees,
      ])
    }
  }
  for (const line of renderTable(columns, rows)) console.log(line)
  console.log(
    `${rounds} interleaved rounds of 1.5 s; against the limit the generators are compared, elsewhere the server is the bottleneck; "cannot tell" is a noise above ${mostNoise * 100} %: a quieter machine, more --rounds`,
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
