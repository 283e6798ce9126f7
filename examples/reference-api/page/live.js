'use strict'

const points = 60
const lines = { rate: [], p50: [], memory: [], lag: [] }

for (const button of document.querySelectorAll('button[data-path]')) {
  if ('secured' in button.dataset) button.before(document.getElementById('token').content.cloneNode(true))
  button.addEventListener('click', () => tryOut(button))
}
if (document.getElementById('now') !== null)
  follow(show, (state) => say('link', state === 'away' ? '· the service does not answer' : ''))

// One token for all of its fields.
for (const input of document.querySelectorAll('input')) {
  input.addEventListener('input', () => {
    for (const other of document.querySelectorAll('input')) other.value = input.value
  })
}

function show(figures) {
  const { rate } = figures
  if (rate !== null) {
    say('rate', rate < 100 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en'))
    draw('rate', rate, 1)
  }
  say('flight', String(figures.server.inFlight))
  const { p50, p99 } = figures.recent
  say('p50', milliseconds(p50))
  say('p99', milliseconds(p99))
  draw('p50', p50 ?? 0, 0.01)
  say('memory', megabytes(figures.memory.rss))
  say('heap', megabytes(figures.memory.heapUsed))
  draw('memory', figures.memory.rss, 2 ** 20)
  say('lag', milliseconds(figures.eventLoopLag.p99))
  draw('lag', figures.eventLoopLag.p99, 1)
  say('connections', String(figures.server.connections))
  say('uptime', duration(figures.uptime))
}

/** The last minute of a figure; `least` is what the height stands for at least. */
function draw(name, value, least) {
  const values = lines[name]
  values.push(value)
  if (values.length > points) values.shift()
  const top = Math.max(least, ...values) * 1.1
  const step = 120 / (points - 1)
  const at = values.map((each, index) => {
    const x = 120 - (values.length - 1 - index) * step
    return `${x.toFixed(1)},${(31 - (each / top) * 30).toFixed(1)}`
  })
  document.querySelector(`#${name}-line polyline`).setAttribute('points', at.join(' '))
}

async function tryOut(button) {
  if (button.getAttribute('aria-busy') === 'true') return
  button.setAttribute('aria-busy', 'true')
  const { method, path, body } = button.dataset
  const headers = {}
  if ('secured' in button.dataset)
    headers.authorization = `Bearer ${button.parentElement.querySelector('input').value}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  const began = performance.now()
  try {
    const reply = await fetch(path, {
      method,
      headers,
      body: body && fill(body),
      signal: AbortSignal.timeout(10000),
    })
    const text = await reply.text()
    const took = performance.now() - began
    const size = new TextEncoder().encode(text).length
    outcome(
      button,
      reply.ok,
      `${reply.status} ${phrase(reply)}`,
      ` in ${milliseconds(took)}, ${size.toLocaleString('en')} bytes`,
    )
    content(button, reply.headers.get('content-type') ?? '', text)
  } catch (error) {
    outcome(button, false, 'No reply', `: ${error.message}`)
    content(button, '', '')
  }
  button.removeAttribute('aria-busy')
}

/** The same number until the page is loaded again, so that the second try is a conflict. */
function fill(body) {
  return body.replaceAll('{n}', String(Math.floor(performance.timeOrigin)))
}

function outcome(button, good, status, rest) {
  const row = button.closest('li')
  let panel = row.querySelector('.outcome')
  if (panel === null) {
    row.append(document.getElementById('outcome').content.cloneNode(true))
    panel = row.querySelector('.outcome')
  }
  panel.classList.toggle('failed', !good)
  const strong = document.createElement('b')
  strong.textContent = status
  panel.querySelector('p').replaceChildren(strong, rest)
  say('announcement', `${button.dataset.method} ${button.dataset.path}: ${status}${rest}`)
}

function content(button, type, text) {
  const panel = button.closest('li').querySelector('.outcome')
  panel.querySelector('img')?.remove()
  const code = panel.querySelector('code')
  code.textContent = short(/json/.test(type) ? pretty(text) : text)
  panel.querySelector('pre').hidden = text === ''
  if (type.startsWith('image/svg+xml')) {
    const image = new Image()
    image.alt = 'The badge'
    image.src = `data:image/svg+xml,${encodeURIComponent(text)}`
    panel.querySelector('p').after(image)
  }
}

function pretty(text) {
  return JSON.stringify(JSON.parse(text), null, 2)
}

function short(text) {
  return text.length > 4000
    ? `${text.slice(0, 4000)}\n… ${(text.length - 4000).toLocaleString('en')} more characters`
    : text
}

/** HTTP/1.1 replies have a phrase; not every server sends one. */
function phrase(reply) {
  return reply.statusText || (reply.ok ? 'OK' : 'Error')
}

function say(id, text) {
  const element = document.getElementById(id)
  if (element.textContent !== text) element.textContent = text
}

function milliseconds(value) {
  if (value === null) return '–'
  if (value < 1) return `${Math.round(value * 1000)} µs`
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}

function megabytes(bytes) {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`
}

function duration(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
