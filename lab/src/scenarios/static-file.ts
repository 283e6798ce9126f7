import type { Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

// As entries/site.mjs writes it.
const rules = Array.from({ length: 128 }, (_, index) => `.column-${index} { margin-left: ${index}px }`)
const css = `${rules.join('\n')}\n`
const path = '/assets/app.css'
const changed = 'Thu, 15 Jan 2026 10:30:00 GMT'
const validators = { etag: /^(?:W\/)?".+"$/, 'last-modified': new RegExp(`^${changed}$`) }

/** Ours: a file that is asked for all the time, from a folder that the framework serves, beside JSON of a handler. */
export const staticFile: Scenario = {
  name: 'static-file',
  title: 'A hot small file',
  about: 'GET /assets/app.css, 5 KB of a folder, with ETag and Last-Modified, and GET /json.',
  document: null,
  program: 'files',
  headline: 'cpu',
  variants: [
    { name: 'json', lane: 'plain', measure: { kind: 'load', load: load(get('/json', hello)) } },
    { name: 'file', lane: 'plain', measure: { kind: 'load', load: load(get(path, css)) }, handler: false },
  ],
  proofs: [
    { path: '/json', status: 200, reply: hello },
    { path, status: 200, reply: css, type: 'text/css', fields: validators, revalidated: true },
    { path, headers: { 'if-none-match': '"another"' }, status: 200, reply: css, type: 'text/css' },
    {
      path,
      headers: { range: 'bytes=0-10' },
      status: 206,
      reply: '.column-0 {',
      type: 'text/css',
      fields: { 'content-range': new RegExp(`^bytes 0-10/${css.length}$`) },
    },
    { path: '/assets/missing.css', status: 404 },
    { path: '/assets/..%2fsecret', status: [400, 403, 404] },
  ],
}
