/** The reference page of a document, from the files of @volant/reference-page. */
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Context } from '../types/context.ts'
import { printLine } from '../report/print-line.ts'
import type { Scope } from '../app/scope.ts'
import type { OpenAPIServer } from './types.ts'

/** Where the page and the document are in a scope, and what the page is told. */
export interface Page {
  readonly path: string
  readonly document: string
  readonly title: string
  readonly servers: readonly OpenAPIServer[]
}

/** Routes of the page; without its package none, and one line that says so. */
export function servePage(scope: Scope<any>, page: Page): void {
  const { path } = page
  const files = filesOf()
  if (files === null) {
    return printLine(`volant: ${path} is not served: @volant/reference-page is not installed (npm install)`)
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
/** Bytes. Each piece waits for the thread pool, and the bundle has megabytes. */
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
 * Scripts of this site alone, and requests to the site and to the servers of the document. The page writes its own
 * style elements.
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

/** With every value that the document gives for a part in braces: what else is put in there, the page may not ask. */
function originsOf({ url, variables = {} }: OpenAPIServer): string[] {
  let origins = (/^([^/]*\/\/)?[^/?#]*/.exec(url) ?? []).slice(0, 1)
  for (const [name, { default: usual, enum: others = [] }] of Object.entries(variables)) {
    const values = [...new Set([usual, ...others])].slice(0, mostOrigins / origins.length)
    if (url.includes(`{${name}}`))
      origins = origins.flatMap((each) => values.map((value) => each.replaceAll(`{${name}}`, value)))
  }
  return origins.flatMap((each) => (/^https?:\/\/[\w.:[\]-]+(?=[/?#]|$)/i.exec(each) ?? []).slice(0, 1))
}

/** Of one server: a header has 8 KiB at most servers and proxies. */
const mostOrigins = 64

/** Its addresses are relative, since the site may be behind a proxy that adds a prefix. */
function html(ctx: Context, { path, document, title, servers }: Page): void {
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

/** Kept compressed, as most clients take it. */
function bundle(ctx: Context, file: string): unknown {
  ctx.header('cache-control', 'no-cache').header('vary', 'accept-encoding')
  if (ctx.acceptsEncodings('identity', 'gzip') === 'gzip') {
    return ctx.header('content-encoding', 'gzip').file(file, { type: script })
  }
  return ctx.header('content-type', script).stream(unpacked(file))
}

/** Opens the file when it is first read, which HEAD never does, and closes it when the client has gone. */
async function* unpacked(file: string): AsyncGenerator<Uint8Array> {
  // An error ends the reading as well.
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
