/**
 * `npm run docs`: writes what the code says into the documents: the tables docs/limits.md and docs/errors.md,
 * docs/reference.md, and the examples that pages show. With `--check` it writes nothing and fails when a page is not
 * what the code says. An export without docstring, or one that the reference does not have, fails it always. Needs
 * compiled TypeScript.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable, limitTable } from 'volant'
import { explain } from '../packages/volant/dist/src/adapters/node-listen.js'
import { root } from './command.mjs'
import { pagesWithExamples } from './doc-examples.mjs'
import { reference } from './reference.mjs'

const { page, problems } = await reference()
const pages = {
  'docs/limits.md': limits(),
  'docs/errors.md': errors(),
  'docs/reference.md': page,
  ...pagesWithExamples(),
}
const check = process.argv.includes('--check')

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

for (const [name, text] of Object.entries(pages)) {
  const path = join(root, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (check) {
    console.error(`${name} is not what the code says: run npm run docs`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`wrote ${name}`)
  }
}

function limits() {
  const rows = limitTable.map((row) => [
    `\`${row.name}\``,
    row.what,
    row.unit,
    row.default === 0 && row.zeroMeansOff ? 'off' : number(row.default),
    `${number(row.min)} to ${number(row.max)}${row.zeroMeansOff ? ', 0 for off' : ''}`,
    row.past,
  ])
  return `# Limits

Options of \`createApp({ limits })\`. All of them are on unless the table says otherwise. A value that is not an integer in its range is refused at start with the option's name.

\`\`\`ts
import { createApp } from 'volant'

const app = createApp({ limits: { maxBodySize: 65_536, handlerTimeout: 5_000 } })
\`\`\`

${table(['option', 'limits', 'unit', 'default', 'range', 'past it'], rows)}`
}

function errors() {
  const rows = Object.entries(errorTable)
  const replies = rows.filter(([, row]) => row.status > 0)
  const mistakes = rows.filter(([, row]) => row.status === 0)
  const refused = refusals().filter(([code]) => !(code in errorTable))
  return `# Errors

An error reply is a problem document (RFC 9457): \`type\`, \`title\`, \`status\`, and where they are known \`detail\`, \`code\`, \`data\` and \`errors\`. How to throw and answer them: [the guide](guide/07-errors.md).

## Replies

What a client can be told by the framework itself.

${table(
  ['code', 'status', 'meaning', 'what to do'],
  replies.map(([code, row]) => [`\`${code}\``, row.status, row.meaning, row.remedy ?? '']),
)}
## Mistakes in a program

Thrown as \`VolantError\`, never shown to clients. \`RoutePatternError\` and \`RouteConflictError\` are such errors, with more to ask of them: see the [reference](reference.md#errors).

${table(
  ['code', 'meaning', 'what to do'],
  mistakes.map(([code, row]) => [`\`${code}\``, row.meaning, row.remedy ?? '']),
)}
## Addresses that cannot be listened on

What \`listen\` rejects with is a \`VolantError\` too, but its \`code\` is the system's; \`cause\` is the system's error. These have a message of their own, here as for \`listen(3000, 'example.test')\`; with another code it ends in what the system says. Without any the code is \`E_LISTEN\`.

${table(
  ['code', 'message'],
  ['EADDRINUSE', 'EACCES', 'EPERM', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].map((code) => [
    `\`${code}\``,
    explain({ code }, { port: 3000, host: 'example.test' }).message,
  ]),
)}
## Requests that are not HTTP

Refused by the native engine before there is a context: the connection is closed, since nobody knows where the next request would begin. A browser does not send these; a broken proxy, a scanner or an attack does.

${table(
  ['code', 'status', 'meaning'],
  refused.map(([code, status, meaning]) => [`\`${code}\``, status, meaning]),
)}`
}

/** Code, status and message of each refusal of the engine's parser. */
function refusals() {
  const text = readFileSync(join(root, 'crates/wire/src/refusal.rs'), 'utf8')
  const rows = [...text.matchAll(/Self::\w+ => \(\s*(\d+),\s*"(\w+)",\s*"([^"]+)",?\s*\)/g)]
  const arms = text.match(/Self::\w+ => /g).length
  if (rows.length !== arms) throw new Error(`${arms - rows.length} rows of refusal.rs cannot be read`)
  return rows.map(([, status, code, meaning]) => [
    code,
    status,
    `${meaning[0].toUpperCase()}${meaning.slice(1)}.`,
  ])
}

function table(heads, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |\n`
  return line(heads) + line(heads.map(() => '---')) + rows.map(line).join('')
}

function number(value) {
  return value.toLocaleString('en-US')
}
