/**
 * `npm run docs`: writes what the code says into the documents: the tables docs/limits.md and docs/errors.md,
 * docs/reference.md, and the examples that pages show. With `--check` it writes nothing and fails when a page is not
 * what the code says. An export without docstring fails it always. Needs compiled TypeScript.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable, limitTable } from 'volant'
import { root } from './command.mjs'
import { pagesWithExamples } from './doc-examples.mjs'
import { reference } from './reference.mjs'

const { page, missing } = reference()
const pages = {
  'docs/limits.md': limits(),
  'docs/errors.md': errors(),
  'docs/reference.md': page,
  ...pagesWithExamples(),
}
const check = process.argv.includes('--check')

for (const name of missing) console.error(`${name} has no docstring`)
if (missing.length > 0) process.exitCode = 1

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
  return `# Errors

An error reply is a problem document (RFC 9457): \`type\`, \`title\`, \`status\`, and where they are known \`detail\`, \`code\` and \`data\`.

## Replies

What a client can be told by the framework itself.

${table(
  ['code', 'status', 'meaning'],
  replies.map(([code, row]) => [`\`${code}\``, row.status, row.meaning]),
)}
## Mistakes in a program

Thrown as \`VolantError\`, never shown to clients.

${table(
  ['code', 'meaning'],
  mistakes.map(([code, row]) => [`\`${code}\``, row.meaning]),
)}`
}

function table(heads, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |\n`
  return line(heads) + line(heads.map(() => '---')) + rows.map(line).join('')
}

function number(value) {
  return value.toLocaleString('en-US')
}
