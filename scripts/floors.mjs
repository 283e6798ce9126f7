/**
 * `npm run floors`: which folder imports which, by the rules of .dependency-cruiser.mjs, and that a name of a type
 * means one thing in packages/volant/src. Needs compiled TypeScript.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import config, { rooms } from '../.dependency-cruiser.mjs'
import { root } from './command.mjs'

process.chdir(root)
const sources = ['packages/engine/src', 'packages/volant/src'].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path)),
)
const failures = [...unknownRooms(), ...repeatedNames()]

await check('imports', sources, config.options)
// Compiled files import values alone: a cycle in them is one that runs.
const compiled = sources
  .map((path) => path.replace('/src/', '/dist/src/').replace(/\.ts$/, '.js'))
  .filter(existsSync)
await check('imports of values', compiled, { ...config.options, parser: 'acorn' })

for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1

/** Prints each import that breaks a rule, with what the rule says. */
async function check(what, files, options) {
  const { output } = await cruise(files, {
    ...options,
    validate: true,
    ruleSet: { forbidden: config.forbidden },
  })
  const { summary } = output
  const rules = new Map(config.forbidden.map(({ name, comment }) => [name, comment]))
  for (const { from, to, rule, cycle } of summary.violations) {
    const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ')
    failures.push(`${from}${way === from ? '' : ` → ${way}`}\n  ${rule.name}: ${rules.get(rule.name)}`)
  }
  console.log(`${what}: ${summary.totalCruised} files, ${summary.totalDependenciesCruised} imports`)
}

/** A folder without a floor would be held by no rule. */
function unknownRooms() {
  const known = new Set([...rooms, 'client'])
  return readdirSync('packages/volant/src', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !known.has(entry.name))
    .map(
      ({ name: room }) =>
        `packages/volant/src/${room}/ has no floor: add it to \`rooms\` in .dependency-cruiser.mjs`,
    )
}

/** Exported types of one name in two files; grep then finds the wrong one. */
function repeatedNames() {
  const places = new Map()
  for (const path of sources.filter((each) => each.startsWith('packages/volant/'))) {
    const text = readFileSync(path, 'utf8')
    for (const [, name] of text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)\b/gm,
    ))
      places.set(name, [...(places.get(name) ?? []), path])
  }
  return [...places]
    .filter(([, paths]) => new Set(paths).size > 1)
    .map(
      ([name, paths]) =>
        `the type ${name} is exported by ${paths.join(' and ')}: give one of them another name`,
    )
}
