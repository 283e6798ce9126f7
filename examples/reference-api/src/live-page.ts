/** The page at `/live`: charts of the last minute. Without JavaScript it has the figures of now, and loads itself again. */
import type { AdapterType } from 'volant'
import type { Figures } from './live.ts'
import { workersSection } from './workers-page.ts'

interface Line {
  readonly id: string
  readonly title: string
  readonly value: string
  /** Its colour; `plain` has no line. */
  readonly kind: 'first' | 'second' | 'plain'
}

export function livePage(engine: AdapterType, figures: Figures, canRestart: boolean): string {
  const { server, memory, recent, eventLoopLag, workers } = figures
  const charts = [
    chart('rate', 'Requests', [
      { id: 'rate', title: 'a second', value: '–', kind: 'first' },
      { id: 'flight', title: 'in flight', value: String(server.inFlight), kind: 'plain' },
    ]),
    chart('latency', 'Time to reply', [
      { id: 'p50', title: 'median', value: time(recent.p50), kind: 'first' },
      { id: 'p99', title: '99 of 100', value: time(recent.p99), kind: 'second' },
    ]),
    chart('memory', 'Memory', [
      { id: 'heap', title: 'JavaScript', value: megabytes(memory.heapUsed), kind: 'first' },
      {
        id: 'rss',
        title: workers === null ? 'the process' : 'all processes',
        value: megabytes(memory.rss),
        kind: 'second',
      },
    ]),
    chart('connections', 'Connections', [
      { id: 'open', title: 'open', value: String(server.connections), kind: 'first' },
      { id: 'streams', title: 'pages that look on', value: String(figures.streams), kind: 'second' },
    ]),
    chart('load', 'Processor', [{ id: 'load', title: 'of one core', value: '–', kind: 'first' }]),
    chart('lag', 'Event loop', [
      { id: 'lag', title: 'lag, 99 of 100', value: time(eventLoopLag.p99), kind: 'first' },
    ]),
  ]
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<noscript><meta http-equiv="refresh" content="5"></noscript>
<title>Live: Volant reference service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/style.css">
<link rel="stylesheet" href="/page/dashboard.css">
<main>
<header>
<div>
<h1>Live <span>reference service</span></h1>
<p><b>${engine}</b> adapter <i>·</i> Node.js ${process.version} <i>·</i> ${workers === null ? `<span>up <span id="uptime">${Math.floor(figures.uptime)} s</span></span> <i>·</i>` : ''} <a href="/">all routes</a></p>
</div>
<p id="state" role="status"><noscript>The figures of now; without JavaScript the page is loaded again every 5 s</noscript></p>
</header>
<div class="charts">
${charts.join('\n')}
</div>
${workers === null ? '' : workersSection(workers, canRestart)}
</main>
<script src="/page/feed.js"></script>
${workers === null ? '' : '<script src="/page/workers.js"></script>\n'}<script src="/page/dashboard.js"></script>
</html>
`
}

function chart(id: string, title: string, lines: readonly Line[]): string {
  const values = lines.map(
    (line) =>
      `<span class="${line.kind}"><strong id="${line.id}">${line.value}</strong><small>${line.title}</small></span>`,
  )
  const drawn = lines.filter(({ kind }) => kind !== 'plain')
  const shapes = drawn.map(({ id: line, kind }) => `<polyline class="${line} ${kind}"/>`)
  const [first] = drawn
  return `<figure id="${id}-chart"><figcaption>${title}</figcaption>
<div class="lines">${values.join('')}</div>
<svg viewBox="0 0 300 90" preserveAspectRatio="none" aria-hidden="true"><path d="M0 30H300M0 60H300M0 89.5H300"/><polygon class="${first?.id}"/>${shapes.join('')}</svg>
<div class="axis"><span>a minute ago</span><span>highest <span id="${id}-top">–</span></span><span>now</span></div></figure>`
}

function time(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  return milliseconds < 1 ? `${Math.round(milliseconds * 1_000)} µs` : `${milliseconds.toFixed(1)} ms`
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`
}
