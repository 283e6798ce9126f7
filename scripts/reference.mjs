/** docs/reference.md: every export of every entry of `volant`, with the docstrings of the code. Part of `npm run docs`. */
// typedoc would bring a second compiler and 42 MB (docs/decisions/0013-what-libraries-do.md).
import { limitTable } from 'volant'
import { entries, publicApi } from './public-api.mjs'

/**
 * Sections by the file an export is declared in; a path that ends in a slash takes a whole folder. The longest that
 * fits counts, and what it takes stands in that place of the section.
 */
const sections = [
  ['App and scopes', ['app/app.ts', 'app/scope.ts', 'app/route-info.ts', 'app/']],
  ['Context', ['types/context.ts', 'types/reply-options.ts', 'reply/']],
  ['Validation', ['middleware/validate.ts', 'types/schema.ts', 'schema/']],
  ['Middleware', ['dispatch/declare.ts', 'types/declaration.ts', 'dispatch/']],
  ['Ready-made middleware', ['middleware/', 'plugins/', 'compression/']],
  ['Authentication', ['auth/', 'jwt/']],
  ['Protection', ['guards/', 'plugins/csp-report.ts']],
  ['Logs', ['log/', 'types/log.ts']],
  ['Rate limits', ['rate-limit/rate-limit.ts', 'rate-limit/', 'redis/']],
  ['Buses', ['types/bus.ts', 'bus/', 'redis/redis-bus.ts', 'redis/bus-client.ts', 'nats/']],
  ['Sessions', ['session/session.ts', 'session/types.ts', 'session/options.ts', 'session/', 'cookies/']],
  ['Idempotency keys and stores', ['idempotency/', 'types/store.ts', 'redis/redis-keys.ts']],
  ['Tracing', ['tracing/otel.ts', 'tracing/']],
  ['Connect and Express', ['connect/']],
  ['Libraries written for ws', ['ws/socket-server.ts', 'ws/']],
  [
    'Contracts',
    [
      'contract/contract.ts',
      'contract/implement.ts',
      'contract/api-tree.ts',
      'contract/reply-body.ts',
      'contract/',
    ],
  ],
  ['OpenAPI', ['plugins/openapi.ts', 'openapi/document.ts', 'openapi/']],
  [
    'Typed client',
    [
      'client/client.ts',
      'client/error.ts',
      'client/',
      'types/client-routes.ts',
      'types/operation.ts',
      'generate/',
    ],
  ],
  ['Procedures', ['procedures/procedure.ts', 'procedures/router.ts', 'procedures/']],
  ['tRPC', ['procedures/trpc/']],
  [
    'Errors',
    ['errors/errors.ts', 'routing/path.ts', 'routing/shapes.ts', 'errors/problem.ts', 'reply/header.ts'],
  ],
  [
    'Options and limits',
    ['app/app-options.ts', 'options/limits.ts', 'request/trust.ts', 'adapters/', 'packages/engine/src/'],
  ],
  ['Testing', ['testing/']],
  ['Types', ['']],
]

const types = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration'])

/** The page, and what is wrong with it: names without docstring, entries and exports that it does not have. */
export async function reference() {
  const api = publicApi()
  describeLimits(api.find(({ name }) => name === 'Limits'))
  const text = sections.map(([title]) => {
    const here = api
      .map((entry) => ({ entry, place: placeOf(entry.file) }))
      .filter(({ place }) => place.title === title)
    // Those of a file together, what can be called before its types.
    const files = [...new Set(here.map(({ entry }) => entry.file))]
    const rank = ({ entry, place }) =>
      place.at * 1_000 + files.indexOf(entry.file) * 2 + (types.has(entry.kind) ? 1 : 0)
    here.sort((a, b) => rank(a) - rank(b))
    return here.length === 0 ? '' : `## ${title}\n\n${here.map(({ entry }) => entryOf(entry)).join('\n')}`
  })
  return {
    problems: [...undocumented(api), ...(await absent(api))],
    page: `# Reference

Everything that ${list(entries.map(({ name }) => `\`${name}\``))} export, with the docstrings of the code. What begins with a comment comes from the entry that it names, everything else from \`volant\`. The [guide](README.md) says how it is used.

${sections.map(([title]) => `- [${title}](#${title.toLowerCase().replaceAll(' ', '-')})`).join('\n')}

${text.filter(Boolean).join('\n')}`,
  }
}

function undocumented(api) {
  return api
    .flatMap(({ name, file, doc, members }) => [
      ...(doc === '' ? [`${file}: ${name}`] : []),
      ...members
        .filter((member) => member.doc === '' && member.name !== 'constructor')
        .map((member) => `${file}: ${name}.${member.name}`),
    ])
    .map((name) => `${name} has no docstring`)
}

/** What an entry gives at run time, and what has been read of it, are two sources. */
async function absent(api) {
  const problems = []
  for (const { name: entry } of entries) {
    const here = new Set(api.filter((each) => each.entries.includes(entry)).map(({ name }) => name))
    if (here.size === 0) problems.push(`${entry} is not in the reference`)
    for (const name of Object.keys(await import(entry))) {
      if (!here.has(name)) problems.push(`${name} of ${entry} is not in the reference`)
    }
  }
  return problems
}

function list(names) {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** The limits are described by their table. */
function describeLimits({ members }) {
  for (const member of members) {
    const row = limitTable.find(({ name }) => name === member.name)
    if (row) member.doc = `${row.what}; ${row.unit}, default ${row.default.toLocaleString('en-US')}`
  }
}

function placeOf(file) {
  const path = file.replace(/^packages\/volant\/src\//, '')
  return sections
    .flatMap(([title, places]) => places.map((place, at) => ({ title, place, at })))
    .filter(({ place }) => (place === '' || place.endsWith('/') ? path.startsWith(place) : path === place))
    .reduce((a, b) => (b.place.length > a.place.length ? b : a))
}

function entryOf({ name, entries: from, signatures, doc, members }) {
  const notes = members
    .filter((member) => member.name !== 'constructor')
    .map(memberOf)
    .join('')
  const entry = from.includes('volant') ? '' : `// ${from.join(', ')}\n`
  return `### ${name}\n\n\`\`\`ts ignore\n${entry}${signatures.join('\n')}\n\`\`\`\n\n${doc}\n${notes === '' ? '' : `\n${notes}`}`
}

function memberOf({ signatures, doc }) {
  const names = signatures.map((text) => `\`${text}\``).join('  \n  ')
  return `- ${names}${doc === '' ? '' : `  \n${doc.replaceAll(/^(?=.)/gm, '  ')}`}\n`
}
