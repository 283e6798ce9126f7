/** docs/reference.md: every export of `volant`, with the docstrings of the code. Part of `npm run docs`. */
import { limitTable } from 'volant'
import { publicApi } from './public-api.mjs'

/** Sections by the file an export is declared in; a path that ends in a slash takes a whole folder. */
const sections = [
  ['App and scopes', ['app.ts', 'scope.ts', 'route-info.ts']],
  ['Context', ['context.ts', 'cookie.ts', 'file.ts', 'early-hints.ts', 'stream-reply.ts', 'query.ts']],
  ['Validation', ['validation.ts']],
  ['Middleware', ['middleware.ts', 'observe.ts']],
  ['Ready-made middleware', ['middleware/', 'plugins/']],
  ['Typed client', ['client/', 'generate/']],
  ['Errors', ['errors.ts', 'path.ts', 'router.ts', 'problem.ts', 'header.ts']],
  ['Options and limits', ['options.ts', 'limits.ts', 'trust.ts', 'adapters/', 'packages/engine/src/']],
  ['Testing', ['inject.ts', 'inject-request.ts']],
  ['Types', ['']],
]

const types = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration'])

/** The page, and the names that have no docstring. */
export function reference() {
  const api = publicApi()
  describeLimits(api.find(({ name }) => name === 'Limits'))
  const missing = api.flatMap(({ name, file, doc, members }) => [
    ...(doc === '' ? [`${file}: ${name}`] : []),
    ...members
      .filter((member) => member.doc === '' && member.name !== 'constructor')
      .map((member) => `${file}: ${name}.${member.name}`),
  ])
  const left = new Set(api)
  const text = sections.map(([title, places]) => {
    const here = [...left].filter(({ file }) => places.some((each) => inSection(file, each)))
    for (const entry of here) left.delete(entry)
    // Those of a file together, what can be called before its types.
    const files = [...new Set(here.map(({ file }) => file))]
    const rank = ({ file, kind }) => files.indexOf(file) * 2 + (types.has(kind) ? 1 : 0)
    here.sort((a, b) => rank(a) - rank(b))
    return here.length === 0 ? '' : `## ${title}\n\n${here.map(entryOf).join('\n')}`
  })
  return {
    missing,
    page: `# Reference

Everything that \`volant\` exports, and \`volant/client\` and \`volant/generate\` for the typed client, with the docstrings of the code. The [guide](README.md) says how it is used.

${sections.map(([title]) => `- [${title}](#${title.toLowerCase().replaceAll(' ', '-')})`).join('\n')}

${text.filter(Boolean).join('\n')}`,
  }
}

/** The limits are described by their table. */
function describeLimits({ members }) {
  for (const member of members) {
    const row = limitTable.find(({ name }) => name === member.name)
    if (row) member.doc = `${row.what}; ${row.unit}, default ${row.default.toLocaleString('en-US')}`
  }
}

function inSection(file, place) {
  const path = file.replace(/^packages\/volant\/src\//, '')
  return place === '' || place.endsWith('/') ? path.startsWith(place) : path === place
}

function entryOf({ name, signatures, doc, members }) {
  const list = members
    .filter((member) => member.name !== 'constructor')
    .map(memberOf)
    .join('')
  return `### ${name}\n\n\`\`\`ts ignore\n${signatures.join('\n')}\n\`\`\`\n\n${doc}\n${list === '' ? '' : `\n${list}`}`
}

function memberOf({ signatures, doc }) {
  const names = signatures.map((text) => `\`${text}\``).join('  \n  ')
  return `- ${names}${doc === '' ? '' : `  \n${doc.replaceAll(/^(?=.)/gm, '  ')}`}\n`
}
