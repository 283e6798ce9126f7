'use strict'

/** The seconds that a chart shows. */
const points = 60
const [width, height] = [300, 90]

/** Each chart: the lines by name, how a value is written, and what the height stands for at least. */
const charts = {
  rate: { lines: { rate: ({ rate }) => rate }, write: number, least: 10 },
  latency: {
    lines: { p50: ({ recent }) => recent.p50, p99: ({ recent }) => recent.p99 },
    write: time,
    least: 1,
  },
  memory: {
    lines: { heap: ({ memory }) => memory.heapUsed, rss: ({ memory }) => memory.rss },
    write: megabytes,
    least: 64 * 2 ** 20,
  },
  connections: {
    lines: { open: ({ server }) => server.connections, streams: ({ streams }) => streams },
    write: number,
    least: 4,
  },
  load: { lines: { load: ({ load }) => load }, write: percent, least: 0.1 },
  lag: { lines: { lag: ({ eventLoopLag }) => eventLoopLag.p99 }, write: time, least: 5 },
}
const history = new Map()

follow(show, (state) => {
  document.documentElement.dataset.state = state
  const words = {
    events: 'Live, by server-sent events',
    polling: 'Live, asked for once a second',
    again: 'Connecting again',
    away: 'The service does not answer; the last figures stay',
  }
  say('state', words[state])
})

function show(figures) {
  for (const [name, { lines, write, least }] of Object.entries(charts)) {
    const values = Object.entries(lines).map(([line, read]) => {
      const value = read(figures) ?? null
      say(line, value === null ? '–' : write(value))
      return note(`${name} ${line}`, value)
    })
    const top = Math.max(least, ...values.flat()) * 1.15
    say(`${name}-top`, write(top / 1.15))
    Object.keys(lines).forEach((line, at) => draw(name, line, values[at], top))
  }
  say('flight', number(figures.server.inFlight))
  // The page has what it was loaded with: a service that now runs in another way needs it to be loaded again.
  if (figures.workers !== null) window.showWorkers?.(figures.workers)
  else if (document.getElementById('uptime') !== null) say('uptime', duration(figures.uptime))
}

/** Adds a value to the last minute of a line; an unknown one adds none. */
function note(key, value) {
  const values = history.get(key) ?? []
  history.set(key, values)
  if (value !== null) values.push(value)
  if (values.length > points) values.shift()
  return values
}

function draw(name, line, values, top) {
  const step = width / (points - 1)
  const at = values.map((value, index) => {
    const x = width - (values.length - 1 - index) * step
    return `${x.toFixed(1)},${(height - (value / top) * height).toFixed(1)}`
  })
  const chart = document.getElementById(`${name}-chart`)
  chart.querySelector(`polyline.${line}`).setAttribute('points', at.join(' '))
  const area = chart.querySelector(`polygon.${line}`)
  if (area === null || at.length === 0) return
  const first = at[0].split(',')[0]
  area.setAttribute('points', `${first},${height} ${at.join(' ')} ${width},${height}`)
}

function say(id, text) {
  const element = document.getElementById(id)
  if (element.textContent !== text) element.textContent = text
}

function number(value) {
  return value < 100 ? String(Math.round(value * 10) / 10) : Math.round(value).toLocaleString('en')
}

function time(milliseconds) {
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

function megabytes(bytes) {
  return `${Math.round(bytes / 2 ** 20)} MB`
}

function percent(share) {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}

function duration(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
