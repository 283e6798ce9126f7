/** The page at `/`: what is running, and where to go from here. */
import { createHash } from 'node:crypto'
import { escape } from './markup.ts'

export interface Running {
  /** Where the visitor found it: the Host field, hence not to be trusted. */
  host: string
  /** The adapter that answers: `native`, `node-http` or `uwebsockets`. */
  engine: string
  node: string
  database: string
  /** Seconds. */
  uptime: number
}

interface Link {
  path: string
  says: string
  method?: string
  /** Where the link leads when the path itself is a pattern; none for what a browser cannot do by itself. */
  example?: string
}

const links: Link[] = [
  { path: '/json', says: 'The smallest JSON reply', example: '/json' },
  { path: '/api/users', says: 'Users, a page at a time', example: '/api/users?limit=20' },
  { path: '/api/users/:id', says: 'One user; asks for a bearer token' },
  { path: '/api/users', says: 'Add a user', method: 'POST' },
  { path: '/big-json', says: '200 records, built for each request', example: '/big-json' },
  { path: '/badge/:label/:value.svg', says: 'A badge as SVG', example: '/badge/build/passing.svg' },
  { path: '/health', says: 'Is it alive?', example: '/health' },
  { path: '/debug/memory', says: 'Memory of the process, in bytes', example: '/debug/memory' },
]

export function page({ host, engine, node, database, uptime }: Running): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Volant reference service</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<main>
<header>
<h1>Volant <span>reference service</span></h1>
<p>A small HTTP service on SQLite. It is up and answering.</p>
</header>
<dl>
<div><dt>Engine</dt><dd>${engine}</dd></div>
<div><dt>Node.js</dt><dd>${node}</dd></div>
<div><dt>Database</dt><dd>${database}</dd></div>
<div><dt>Up for</dt><dd>${duration(uptime)}</dd></div>
</dl>
<h2>Routes</h2>
<ul>
${links.map(row).join('\n')}
</ul>
<h2>With a token</h2>
<pre tabindex="0"><code>curl http://${escape(host)}/api/users/123 \\
  -H "Authorization: Bearer $API_TOKEN"</code></pre>
</main>
</html>
`
}

function row({ path, says, method = 'GET', example }: Link): string {
  const name = `<code><b>${method}</b> ${path}</code>`
  return `<li>${example ? `<a href="${example}">${name}</a>` : `<div>${name}</div>`}<span>${says}</span></li>`
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const style = `
:root { color-scheme: light dark; --ink: light-dark(#1a1f26, #e8eaed); --soft: light-dark(#5b6570, #9aa4af);
  --line: light-dark(#e1e5ea, #2c333b); --card: light-dark(#fff, #1a1f26); --link: light-dark(#0b5cad, #7ab8ff) }
* { box-sizing: border-box; margin: 0 }
body { background: light-dark(#f5f7f9, #12161b); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: clamp(1.5rem, 6vw, 4rem) clamp(1rem, 4vw, 2rem) }
h1 { font-size: clamp(1.6rem, 5vw, 2.2rem); line-height: 1.2; letter-spacing: -.02em }
h1 span { font-weight: 400; color: var(--soft) }
header p { color: var(--soft); margin-top: .4rem }
h2 { font-size: 1rem; margin: 2.25rem 0 .75rem }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin-top: 2rem }
dl div, ul, pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px }
dl div { padding: .8rem 1rem }
dt { color: var(--soft); font-size: .8rem }
dd { font-weight: 600; font-variant-numeric: tabular-nums }
ul { list-style: none; padding: 0 }
li { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1.5rem; padding: .65rem 1rem }
li + li { border-top: 1px solid var(--line) }
li span { color: var(--soft); font-size: .9rem }
code { font: .875rem/1.5 ui-monospace, 'Cascadia Code', Menlo, Consolas, 'Liberation Mono', monospace }
b { display: inline-block; min-width: 2.75rem; font-weight: 400; color: var(--soft) }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline; text-underline-offset: 3px }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; border-radius: 4px }
pre { padding: .9rem 1rem; overflow-x: auto }
pre code { font-size: .8125rem }
@media (max-width: 36rem) { li { flex-direction: column } }
`

/** Nothing but this page's own style may load, and no other page may frame it. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
