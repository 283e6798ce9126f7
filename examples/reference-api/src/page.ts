/** The page at `/`: how the service is doing, and every route to try. Style and script are files in the folder `page`. */
import type { AdapterType } from 'volant'
import { escape } from './markup.ts'

export interface Running {
  /** Where the visitor found it: what the request says, hence not to be trusted. */
  host: string
  /** The adapter that answers. */
  engine: AdapterType
  /** The SQLite binding. */
  database: string
  /** Shown where it is the one everybody knows. */
  token: string
  /** Without them the page has no figures of now, and asks for the token where one can be tried. */
  publicFigures: boolean
}

interface Entry {
  path: string
  says: string
  method?: string
  /** What the button asks for where the path is a pattern. */
  example?: string
  /** The button sends the token of the field beside it. */
  secured?: boolean
  /** It is secured where figures are not public. */
  figures?: boolean
  /** The body the button sends; `{n}` becomes a number that was not there before. */
  body?: string
}

interface Section {
  title: string
  entries: Entry[]
}

const sections: Section[] = [
  {
    title: 'Plain replies',
    entries: [
      { path: '/json', says: 'The smallest JSON reply' },
      { path: '/big-json', says: '200 records, built for each request' },
      { path: '/badge/:label/:value.svg', says: 'A badge as SVG', example: '/badge/build/passing.svg' },
    ],
  },
  {
    title: 'Users, in SQLite',
    entries: [
      { path: '/api/users', says: 'A page at a time', example: '/api/users?limit=5' },
      {
        path: '/api/users/:id',
        says: 'One of them, for a bearer token',
        example: '/api/users/123',
        secured: true,
      },
      {
        path: '/api/users',
        method: 'POST',
        says: 'Add one; a second try finds the address taken',
        body: '{"name":"Alice","email":"alice-{n}@example.com","age":25}',
      },
    ],
  },
  {
    title: 'Monitoring',
    entries: [
      { path: '/health', says: 'Whether the process is alive' },
      { path: '/ready', says: 'Whether the database can be read' },
      { path: '/api/health', figures: true, says: 'Uptime, memory, event loop lag' },
      { path: '/metrics', figures: true, says: 'All metrics, for Prometheus' },
      { path: '/metrics.json', figures: true, says: 'The same as JSON' },
      { path: '/debug/memory', figures: true, says: 'Memory of the process, in bytes' },
    ],
  },
]

/** Each adapter with the HTTP server behind it. */
const engines: Readonly<Record<AdapterType, string>> = {
  native: 'Volant’s own HTTP engine, in Rust',
  'node-http': 'the HTTP server of Node.js',
  uwebsockets: 'the HTTP server of uWebSockets.js',
}

export function page({ host, engine, database, token, publicFigures }: Running): string {
  const known = token === 'valid-token' ? token : ''
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Volant reference service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/style.css">
<main>
<header>
<h1>Volant <span>reference service</span></h1>
<p><b>${engine}</b> adapter: ${engines[engine]}</p>
<p>Node.js ${process.version} <i>·</i> <span>${database}</span> <i>·</i> <span>up <span id="uptime">${Math.floor(process.uptime())} s</span></span></p>
<p><a href="/docs">API reference</a> <i>·</i> <a href="/openapi.json">OpenAPI document</a></p>
</header>
${publicFigures ? now : ''}
${sections.map((each) => section(each, publicFigures)).join('\n')}
<section aria-labelledby="terminal">
<h2 id="terminal">From a terminal</h2>
<pre tabindex="0"><code>curl http://${escape(host)}/api/users/123 \\
  -H "Authorization: Bearer ${known || '$API_TOKEN'}"</code></pre>
</section>
</main>
<p id="announcement" role="status"></p>
<template id="outcome"><div class="outcome"><p></p><pre tabindex="0"><code></code></pre></div></template>
<template id="token"><label>Token <input value="${known}" autocomplete="off" spellcheck="false"></label></template>
<script src="/page/feed.js"></script>
<script src="/page/live.js"></script>
</html>
`
}

const now = `<section aria-labelledby="now">
<h2 id="now">Right now <span id="link" role="status"></span></h2>
<div class="tiles">
${tile('rate', 'Requests a second', 'in flight', 'flight')}
${tile('p50', 'Time to reply, p50', 'p99', 'p99')}
${tile('memory', 'Memory', 'heap', 'heap')}
${tile('lag', 'Event loop lag, p99', 'connections', 'connections')}
</div>
<p class="note">The lines show the last minute. The server counts every request, also those of this page, which gets its figures as <a href="/live">events</a>, or asks for them once a second where it cannot. A reply is timed from the first middleware to its last byte.</p>
</section>`

/** A figure with a line for its last minute, and a smaller one beside it. */
function tile(id: string, title: string, beside: string, besideId: string): string {
  return `<figure><figcaption>${title}</figcaption><strong id="${id}">–</strong><span>${beside} <b id="${besideId}">–</b></span><svg id="${id}-line" viewBox="0 0 120 32" preserveAspectRatio="none" aria-hidden="true"><path d="M0 31.5H120"/><polyline/></svg></figure>`
}

function section({ title, entries }: Section, publicFigures: boolean): string {
  const rows = entries.map((entry) => {
    const { secured = false, figures = false } = entry
    return row(entry, secured || (figures && !publicFigures))
  })
  return `<section>
<h2>${title}</h2>
<ul class="routes">
${rows.join('\n')}
</ul>
</section>`
}

function row({ path, says, method = 'GET', example = path, body }: Entry, secured: boolean): string {
  const name = `<code><b class="${method.toLowerCase()}">${method}</b> ${path.replaceAll('/', '/<wbr>')}</code>`
  // A browser can follow what is read without a token.
  const link = method === 'GET' && !secured ? `<a href="${escape(example)}">${name}</a>` : name
  const send = body === undefined ? '' : ` data-body="${escape(body)}"`
  return `<li><div>${link}<p>${says}</p></div><div class="try"><button type="button" data-method="${method}" data-path="${escape(example)}"${secured ? ' data-secured' : ''}${send} aria-label="Try ${method} ${escape(example)}">Try</button></div></li>`
}

/** Nothing but this server's styles and scripts may run, and the page may ask nobody else. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  'report-uri /csp-reports',
  'report-to csp',
].join('; ')
