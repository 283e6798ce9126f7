/** Writes figures in Prometheus' text format 0.0.4. Names are those of prom-client where it has the same figure. */
import type { MetricsSnapshot, RouteFigures } from './metrics.ts'

const startedAt = Date.now() / 1_000 - process.uptime()

/** Writes the figures. `bounds` are those of the histogram, in seconds; the format ends with a line feed. */
export function exposition(figures: MetricsSnapshot, bounds: readonly number[]): string {
  const { server, memory, cpu, eventLoopLag } = figures
  const { bus } = server
  const connected = bus === undefined ? undefined : Number(bus.connected)
  const rows: [name: string, type: string, help: string, value: number | undefined, labels?: string][] = [
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
    ['nodejs_version_info', 'gauge', 'Version of Node.js.', 1, `{version="${process.version}"}`],
  ]
  // A figure that the adapter cannot know has no line.
  const lines = rows.flatMap(([name, type, help, value, labels = '']) =>
    value === undefined ? [] : [...head(name, type, help), `${name}${labels} ${value}`],
  )
  return `${[...durations(figures.routes, bounds), ...lines].join('\n')}\n`
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

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}
