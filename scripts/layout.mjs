// Generates the shared-memory constants for Rust, TypeScript and the documents from crates/ring/layout.json.
// `--check` writes nothing and exits 1 when a generated file is out of date.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = readFileSync(join(root, 'crates/ring/layout.json'), 'utf8')
const layout = JSON.parse(source)
const hash = createHash('sha256').update(JSON.stringify(layout)).digest().readUInt32LE(0) & 0x7fffffff

const constants = new Map(layout.constants.map(([name, value]) => [name, value]))
const at = (name) => constants.get(name)
const pageWords = at('maxSlice') * at('requestWords') + at('spanWords') + at('arenaBytes') / 4
const derived = [
  ['pageWords', pageWords, 'Words of a page: descriptors, spans, arena.'],
  ['requestsOffset', at('controlWords'), 'Word offset of page 0; its descriptors come first.'],
  ['spansInPage', at('maxSlice') * at('requestWords'), 'Word offset of the spans within a page.'],
  [
    'arenaInPage',
    at('maxSlice') * at('requestWords') + at('spanWords'),
    'Word offset of the arena within a page.',
  ],
  ['recordsOffset', at('controlWords') + at('pages') * pageWords, 'Word offset of the reply records.'],
  [
    'outOffset',
    at('controlWords') + at('pages') * pageWords + at('maxRecords') * at('recordWords'),
    'Word offset of the reply memory.',
  ],
]
const total = derived.at(-1)[1] * 4 + at('outBytes')
derived.push(['totalBytes', total, 'Size of the shared memory in bytes.'])

const lists = [
  ['fieldNames', 'Header fields by the known id of a span; 0 is any other.'],
  [
    'contentTypes',
    'Content types by the id of a reply record; 0 means the header block has it, or there is none.',
  ],
]

const upper = (name) => name.replaceAll(/[A-Z]/g, (c) => `_${c}`).toUpperCase()
const words = { control: layout.control, request: layout.request, record: layout.record }
const note = 'Generated from crates/ring/layout.json by scripts/layout.mjs. Do not edit.'

const number = (value) => String(value).replaceAll(/\B(?=(\d{3})+(?!\d))/g, '_')

function rust() {
  const lines = [`//! ${note}`, '', `pub const LAYOUT_HASH: u32 = ${number(hash)};`]
  for (const [name, value, doc] of [...layout.constants, ...derived])
    lines.push('', `/// ${doc}`, `pub const ${upper(name)}: usize = ${number(value)};`)
  for (const [group, rows] of Object.entries(words)) {
    lines.push('', `pub mod ${group} {`)
    rows.forEach(([name, doc], index) => {
      lines.push(`    /// ${doc}`, `    pub const ${upper(name)}: usize = ${index};`)
    })
    lines.push('}')
  }
  for (const [group, rows] of Object.entries(layout.enums)) {
    lines.push('', `pub mod ${upper(group).toLowerCase()} {`)
    for (const [name, value] of rows) lines.push(`    pub const ${upper(name)}: i32 = ${value};`)
    lines.push('}')
  }
  lines.push('', '/// Order of the limits in the array handed to `createServer`.', 'pub mod limit {')
  layout.limits.forEach((name, index) => lines.push(`    pub const ${upper(name)}: usize = ${index};`))
  lines.push(`    pub const COUNT: usize = ${layout.limits.length};`, '}')
  for (const [name, doc] of lists) {
    const rows = layout[name].map((text) => `    "${text}",`)
    lines.push('', `/// ${doc}`, `pub const ${upper(name)}: [&str; ${rows.length}] = [`, ...rows, '];')
  }
  lines.push('')
  return lines.join('\n')
}

function typescript() {
  const lines = [`// ${note}`, '', `export const layoutHash = ${hash}`]
  for (const [name, value, doc] of [...layout.constants, ...derived])
    lines.push('', `/** ${doc} */`, `export const ${name} = ${value}`)
  for (const [group, rows] of Object.entries(words)) {
    lines.push('')
    rows.forEach(([name, doc], index) => {
      const full = `${group}${name[0].toUpperCase()}${name.slice(1)}`
      lines.push(`/** ${doc} */`, `export const ${full} = ${index}`)
    })
  }
  for (const [group, rows] of Object.entries(layout.enums)) {
    lines.push('')
    for (const [name, value] of rows)
      lines.push(`export const ${group}${name[0].toUpperCase()}${name.slice(1)} = ${value}`)
  }
  lines.push('', '/** Order of the limits in the array handed to `createServer`. */')
  lines.push(`export const limitOrder = [${layout.limits.map((name) => `'${name}'`).join(', ')}] as const`)
  for (const [name, doc] of lists) {
    const rows = layout[name].map((text) => `  '${text}',`)
    lines.push('', `/** ${doc} */`, `export const ${name}: readonly string[] = [`, ...rows, ']')
  }
  lines.push('')
  return lines.join('\n')
}

function markdown() {
  const lines = [`<!-- ${note} -->`, '', '# Shared memory layout', '', layout.about, '', '## Sizes', '']
  lines.push('| name | value | meaning |', '|---|---|---|')
  for (const [name, value, doc] of [...layout.constants, ...derived])
    lines.push(`| \`${name}\` | ${value} | ${doc} |`)
  const titles = { control: 'Control block', request: 'Request descriptor', record: 'Reply record' }
  for (const [group, rows] of Object.entries(words)) {
    lines.push('', `## ${titles[group]}`, '', '| word | name | meaning |', '|---|---|---|')
    rows.forEach(([name, doc], index) => lines.push(`| ${index} | \`${name}\` | ${doc} |`))
  }
  lines.push('', '## Enumerations', '', '| group | values |', '|---|---|')
  for (const [group, rows] of Object.entries(layout.enums))
    lines.push(`| \`${group}\` | ${rows.map(([name, value]) => `\`${name}\` ${value}`).join(', ')} |`)
  for (const [name, doc] of lists) {
    lines.push('', `## \`${name}\``, '', doc, '', '| id | value |', '|---|---|')
    layout[name].forEach((text, id) => lines.push(`| ${id} | ${text === '' ? '' : `\`${text}\``} |`))
  }
  lines.push('')
  return lines.join('\n')
}

const outputs = [
  ['crates/ring/src/generated/layout.rs', rust()],
  ['packages/engine/src/generated/layout.ts', typescript()],
  ['docs/internals/layout.md', markdown()],
]
const check = process.argv.includes('--check')
let stale = 0
for (const [path, text] of outputs) {
  const file = join(root, path)
  let current = ''
  try {
    current = readFileSync(file, 'utf8')
  } catch {
    // Missing counts as out of date.
  }
  if (current === text) continue
  if (check) {
    console.error(`${path} is out of date: run "npm run layout"`)
    stale++
    continue
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(`wrote ${path}`)
}
process.exitCode = stale ? 1 : 0
