/** How it was measured, and what is told of the run itself. */
import { commitsOf } from '../commits.ts'
import type { Results } from '../analysis.ts'
import type { Cell, Run } from '../cell.ts'
import { generatorsOf, usualRuntime } from '../versions.ts'
import { type Markup, html } from './html.ts'
import { fixed } from './number.ts'

/** `twice`: an entry was measured against itself. */
export function methodSection(run: Run, twice: boolean): Markup {
  const { settings } = run
  const window = settings.window === null ? 'as each scenario says' : `${settings.window} s`
  const warmup = settings.warmup === null ? 'as each scenario says' : `${settings.warmup} s`
  const points: readonly (readonly [string, string])[] = [
    [
      'Same work, proven',
      `Before it is measured an entry must give the right status, headers and body in that scenario${settings.generator === 'load' ? ', and under load replies are checked again' : ''}. A wrong status, a wrong body or a missing route disqualifies the cell, and the reason is printed.`,
    ],
    [
      'Fresh processes',
      'Every cell starts a new server, waits until it answers, warms it up, measures, and waits until its port is free again.',
    ],
    [
      'Cores',
      `${settings.cores}. The generator is ${generatorsOf(run)}; CPU time counts all threads and child processes of the server.`,
    ],
    [
      'Order',
      `Entries run in random order, interleaved by round (seed ${settings.seed}), so that what drifts on the machine meets all of them.`,
    ],
    [
      'Rounds',
      `${settings.rounds} ${settings.rounds === 1 ? 'round' : 'rounds'}; window ${window}, warm-up ${warmup}.${settings.quick ? ' This is a quick run: less of everything, not for publishing.' : ''}`,
    ],
    [
      'Statistics',
      `Figures are medians over the rounds, never the best of them. Intervals are order statistics that hold the true median in 95 % of runs, up to 8 rounds their range; ratios are taken within each round. ${twice ? 'One entry is measured twice against itself: what differs by no more than that is a tie.' : 'No entry was measured twice against itself in this run, so there is no noise floor; a tie is a ratio whose interval holds 1.'}`,
    ],
    [
      'CPU first',
      'CPU time per request is what a server costs, and it stands even where the generator was the slower of the two. Where the server’s core was under 95 % busy, requests/s is a lower bound and marked.',
    ],
    [
      'Lanes',
      'Plain keep-alive requests, pipelined requests, new connections and open loops are never in one table.',
    ],
    [
      'Guards',
      'In a closed loop connections = rate × latency; a cell that breaks this by more than 5 % is discarded and counted. Replies that are not 2xx and socket errors are columns of their own.',
    ],
    [
      'Latency',
      'Closed loops stop sending while a server stalls, so their percentiles flatter it. Latency against load is from open loops and counts from the time a request was due.',
    ],
    [
      'Without JavaScript',
      'Entries that answer without running a handler in JavaScript show what the machine can do at most. They stand in another colour and nobody is compared with them.',
    ],
  ]
  return html`<section id="method">
    <h2>Method</h2>
    <dl class="method">
      ${points.map(
        ([term, text]) =>
          html`<div>
            <dt>${term}</dt>
            <dd>${text}</dd>
          </div>`,
      )}
    </dl>
    <p>To repeat it: <code>npm run lab -- run ${run.command.map(quoted).join(' ')}</code></p>
  </section>`
}

/** As a shell takes it. */
function quoted(argument: string): string {
  return /^[\w:,.=/@-]+$/.test(argument) ? argument : `'${argument}'`
}

/** Facts of the run, as they stand at the head of the page. */
export function facts({ run, cells }: Results): readonly (readonly [string, string])[] {
  const { machine, settings } = run
  return [
    ['Measured', period(run.startedAt, cells)],
    ['Commit', commitsOf(run)],
    ['Machine', `${machine.cpu}, ${machine.cores} cores, ${fixed(machine.memoryBytes / 1e9, 1)} GB`],
    ['Kernel', machine.kernel + (machine.governor ? `, governor ${machine.governor}` : '')],
    ['Servers', usualRuntime(run) || 'not on Node.js'],
    ['The lab', `Node.js ${machine.node.replace(/^v/, '')}`],
    ['Generator', generatorsOf(run)],
    ['Cores', settings.cores],
    ['Rounds', `${settings.rounds}, interleaved`],
  ]
}

/** `2026-11-21 11:59:56 to 13:20:05 UTC`: from the start to when the last cell began. */
function period(startedAt: string, cells: readonly Cell[]): string {
  const [from, until] = [
    startedAt,
    cells
      .map(({ at }) => at)
      .toSorted()
      .at(-1) ?? startedAt,
  ].map((at) => at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')) as [string, string]
  const [day] = from.split(' ', 1) as [string]
  const end = until.startsWith(`${day} `) ? until.slice(day.length + 1) : until
  return `${from}${until === from ? '' : ` to ${end}`} UTC`
}
