/** Writes figures in Prometheus' text format 0.0.4. Names are those of prom-client where it has the same figure. */
import type { ClusterInfo } from '../worker/messages.ts'
import type { MetricsSnapshot, RouteFigures } from './metrics.ts'
import { type AllFigures, type AppStats, type ProcessFigures, startedAt } from './shared-metrics.ts'

/** Writes the figures. `bounds` are those of the histogram, in seconds; the format ends with a line feed. */
export function exposition(figures: MetricsSnapshot, bounds: readonly number[]): string {
  const lines = rowsOf({ ...figures, startedAt }).flatMap((row) => family(row, [sampleOf(row)]))
  return written([...durations(figures.routes, bounds), ...lines])
}

/** Writes the figures of all workers: the sums of what is counted in each, and by worker what belongs to a process. */
export function clusterExposition(
  { total, routes, workers, cluster }: AllFigures,
  bounds: readonly number[],
): string {
  const byWorker = workers.map(({ worker, ...figures }) => ({ worker, rows: rowsOf(figures) }))
  const lines = rowsOf(total).flatMap((row, at) => {
    const [name, type] = row
    // Whether the bus is connected, and which topics it has, cannot be added up.
    const isSum = name.startsWith('http_') || (name.startsWith('volant_') && type === 'counter')
    if (isSum) return family(row, [sampleOf(row)])
    const samples = byWorker.map(({ worker, rows }) => sampleOf(rows[at] as Row, `worker="${worker}"`))
    return family(row, samples)
  })
  return written([...durations(routes, bounds), ...lines, ...supervised(cluster)])
}

/** What is measured of a process and of the app in it. */
export interface Measured extends ProcessFigures {
  readonly server: AppStats
}

/** A figure that the adapter cannot know is undefined, and has no line. */
type Row = [name: string, type: string, help: string, value: number | undefined, labels?: string]

function rowsOf({ server, memory, cpu, eventLoopLag, startedAt }: Measured): Row[] {
  const { bus } = server
  const connected = bus === undefined ? undefined : Number(bus.connected)
  return [
    ['http_connections', 'gauge', 'Open connections.', server.connections],
    ['http_requests_in_flight', 'gauge', 'Requests without their reply.', server.inFlight],
    ['http_websockets', 'gauge', 'Open WebSockets.', server.sockets],
    ['http_requests_total', 'counter', 'Requests that reached the app.', server.requests],
    ['http_requests_refused_total', 'counter', refusedHelp, server.refused],
    ['http_connections_dropped_total', 'counter', droppedHelp, server.dropped],
    ['volant_bus_connected', 'gauge', 'Whether other processes can be reached over the bus.', connected],
    ['volant_bus_topics', 'gauge', 'Topics of the bus with a receiver.', bus?.topics],
    ['volant_bus_waiting_bytes', 'gauge', 'Bytes that wait for the server of the bus.', bus?.waiting],
    ['volant_bus_published_total', 'counter', 'Messages published to the bus.', bus?.published],
    ['volant_bus_received_total', 'counter', 'Messages of other processes.', bus?.received],
    ['volant_bus_unsent_total', 'counter', 'Messages dropped, or not answered for.', bus?.unsent],
    ['volant_bus_gaps_total', 'counter', 'Reports of lost messages of other processes.', bus?.gaps],
    ['volant_bus_lost_total', 'counter', 'Lost messages of other processes, where known.', bus?.lost],
    ['volant_bus_refused_total', 'counter', 'What arrived and was no message, or came again.', bus?.refused],
    ['volant_engine_panics_total', 'counter', 'Faults caught in the engine.', server.panics],
    ['process_cpu_user_seconds_total', 'counter', 'User CPU time.', cpu.user],
    ['process_cpu_system_seconds_total', 'counter', 'System CPU time.', cpu.system],
    ['process_cpu_seconds_total', 'counter', 'User and system CPU time.', cpu.user + cpu.system],
    ['process_start_time_seconds', 'gauge', 'Start of the process since the epoch.', startedAt],
    ['process_resident_memory_bytes', 'gauge', 'Resident memory.', memory.rss],
    ['nodejs_heap_size_total_bytes', 'gauge', 'Size of the heap.', memory.heapTotal],
    ['nodejs_heap_size_used_bytes', 'gauge', 'Used part of the heap.', memory.heapUsed],
    ['nodejs_external_memory_bytes', 'gauge', 'Memory outside the heap.', memory.external],
    ['nodejs_eventloop_lag_p50_seconds', 'gauge', 'Median lag of the event loop.', eventLoopLag.p50 / 1e3],
    ['nodejs_eventloop_lag_p99_seconds', 'gauge', 'Lag of the event loop, p99.', eventLoopLag.p99 / 1e3],
    ['nodejs_eventloop_lag_max_seconds', 'gauge', 'Longest lag of the event loop.', eventLoopLag.max / 1e3],
    ['nodejs_version_info', 'gauge', 'Version of Node.js.', 1, `version="${process.version}"`],
  ]
}

const refusedHelp = 'Requests refused before the app saw them: malformed, past a limit, overload.'
const droppedHelp = 'Connections reset because too much waited to be sent.'

function durations(routes: readonly RouteFigures[], bounds: readonly number[]): string[] {
  const name = 'http_request_duration_seconds'
  const lines = head(name, 'histogram', 'Time from the first middleware to the end of the reply.')
  for (const { route, method, status, count, seconds, buckets } of routes) {
    // Patterns have none of the characters that are escaped in labels: quotes, backslashes, line feeds.
    const labels = `method="${method}",route="${route}",status="${status}"`
    let below = 0
    for (const [at, bound] of bounds.entries()) {
      below += buckets[at] as number
      lines.push(`${name}_bucket{${labels},le="${bound}"} ${below}`)
    }
    lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`)
    lines.push(`${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${count}`)
  }
  return lines
}

/** How many workers there are in each state, and how many were started in place of others. */
function supervised({ workers, restarts }: ClusterInfo): string[] {
  const states = (['starting', 'ready', 'draining'] as const).map((state) => ({
    labels: `state="${state}"`,
    value: workers.filter((worker) => worker.state === state).length,
  }))
  const reasons = Object.entries(restarts).map(([reason, value]) => ({ labels: `reason="${reason}"`, value }))
  return [
    ...family(['volant_workers', 'gauge', 'Workers of the supervisor, by state.'], states),
    ...family(['volant_worker_restarts_total', 'counter', 'Workers started in place of others.'], reasons),
  ]
}

interface Sample {
  readonly labels: string
  readonly value: number | undefined
}

function sampleOf([, , , value, own]: Row, more = ''): Sample {
  return { labels: own === undefined || more === '' ? `${more}${own ?? ''}` : `${more},${own}`, value }
}

/** Writes the samples of one name; nothing if no worker has a value. */
function family(
  [name, type, help]: readonly [string, string, string, ...unknown[]],
  samples: readonly Sample[],
): string[] {
  const lines = samples.flatMap(({ labels, value }) =>
    value === undefined ? [] : `${name}${labels === '' ? '' : `{${labels}}`} ${value}`,
  )
  return lines.length === 0 ? [] : [...head(name, type, help), ...lines]
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

function written(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}
