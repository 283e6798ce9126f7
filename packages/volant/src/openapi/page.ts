/** The page that shows a document, made of the files of @volant/reference-page. */
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Context } from '../types/context.ts'
import { printLine } from '../report/print-line.ts'
import type { Scope } from '../app/scope.ts'
import type { OpenAPIServer } from './types.ts'

/** The paths of the page and of the document in their scope, and what the page shows. */
export interface ReferencePage {
  readonly path: string
  readonly document: string
  readonly title: string
  readonly servers: readonly OpenAPIServer[]
}

/** Adds the routes of the page. If its package is not installed, it adds none, and stderr says so. */
export function servePage(scope: Scope<any>, page: ReferencePage): void {
  const { path } = page
  const files = filesOf()
  if (files === null) {
    return printLine(
      `volant: ${path} is not served, because @volant/reference-page is not installed: run npm install`,
    )
  }
  const policy = policyOf(page.servers)
  scope.get(path, { hidden: true }, (ctx) => {
    ctx.header('content-security-policy', policy)
    html(ctx as Context, page)
  })
  scope.get(`${path}/reference.js`, { hidden: true }, (ctx) => bundle(ctx as Context, files.bundle))
  scope.get(`${path}/start.js`, { hidden: true }, (ctx) => {
    return (ctx as Context).header('cache-control', 'no-cache').file(files.start, { type: script })
  })
}

const script = 'text/javascript; charset=utf-8'
/** The size of a piece in bytes. Each waits for the thread pool, and the bundle has several megabytes. */
const pieces = 256 * 1024

function filesOf(): { bundle: string; start: string } | null {
  const { resolve } = createRequire(import.meta.url)
  try {
    return {
      bundle: resolve('@volant/reference-page/reference.js.gz'),
      start: resolve('@volant/reference-page/start.js'),
    }
  } catch {
    return null
  }
}

/**
 * The page may run scripts of this site, and ask this site and the servers of the document. It writes its own style
 * elements.
 */
function policyOf(servers: readonly OpenAPIServer[]): string {
  const origins = servers.flatMap(originsOf)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Gives the origins of a URL, with every value that the document lists for a variable. The page may ask no other. */
function originsOf({ url, variables = {} }: OpenAPIServer): string[] {
  let origins = (/^([^/]*\/\/)?[^/?#]*/.exec(url) ?? []).slice(0, 1)
  for (const [name, { default: usual, enum: others = [] }] of Object.entries(variables)) {
    const values = [...new Set([usual, ...others])].slice(0, mostOrigins / origins.length)
    if (url.includes(`{${name}}`))
      origins = origins.flatMap((each) => values.map((value) => each.replaceAll(`{${name}}`, value)))
  }
  return origins.flatMap((each) => (/^https?:\/\/[\w.:[\]-]+(?=[/?#]|$)/i.exec(each) ?? []).slice(0, 1))
}

/** The most origins of one server: most servers and proxies allow a header 8 KiB. */
const mostOrigins = 64

/** The addresses in it are relative, since a proxy in front of the site may add a prefix. */
function html(ctx: Context, { path, document, title, servers }: ReferencePage): void {
  const slash = ctx.path.endsWith('/') && path !== '/'
  const up = '../'.repeat(path.split('/').length - 2 + (slash ? 1 : 0))
  const here = slash ? '' : `${path.slice(path.lastIndexOf('/') + 1)}/`
  const root = '../'.repeat(ctx.path.split('/').length - 2) || './'
  ctx
    .header('cache-control', 'no-cache')
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer').html(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference" data-document="${escaped(up + document.slice(1))}"${servers.length === 0 ? ` data-root="${root}"` : ''}></div>
<noscript>This page needs JavaScript; the document itself is <a href="${escaped(up + document.slice(1))}">here</a>.</noscript>
<script src="${escaped(here)}reference.js"></script>
<script src="${escaped(here)}start.js"></script>
</body>
</html>
`)
}

/** The file is compressed, as most clients accept it. */
function bundle(ctx: Context, file: string): unknown {
  ctx.header('cache-control', 'no-cache').header('vary', 'accept-encoding')
  if (ctx.acceptsEncodings('identity', 'gzip') === 'gzip') {
    return ctx.header('content-encoding', 'gzip').file(file, { type: script })
  }
  return ctx.header('content-type', script).stream(unpacked(file))
}

/** Opens the file when it is first read, which HEAD never does, and closes it when the client disconnects. */
async function* unpacked(file: string): AsyncGenerator<Uint8Array> {
  // The callback keeps an error from being unhandled: the reader gets it, too.
  yield* pipeline(createReadStream(file), createGunzip({ chunkSize: pieces }), () => {})
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}
