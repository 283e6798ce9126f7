/**
 * Checks the documents: every relative link and its anchor resolves, every path of this repository that a page names
 * in `code` exists, no page uses a banned word, and every TypeScript block compiles. Prints `page:line: what is wrong` and fails when there is
 * anything to print. Needs compiled TypeScript.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { root } from './command.mjs'
import { checkSnippets } from './doc-snippets.mjs'

/** An inline code span is a path of ours when it begins like this; a trailing `:name` points into the file. */
const ownPath = /^(?:crates|packages|conformance|lab|examples|scripts|docs|\.ci)\/[\w./-]*$/
/** Words that pages do without: private terms, and a pronoun that stands for "not one". */
const banned = /\b(?:doors?|whoever|(?:it|that|what|which) (?:is|are) none)\b/i
/** What the product needs no copy of in a fresh clone. */
const built = /\/(?:dist|native|data|target|artifacts)(?:\/|$)/

const pages = [
  ...markdown('.', false),
  ...markdown('docs'),
  ...nested('packages'),
  ...markdown('conformance', false),
  ...nested('conformance'),
  ...markdown('lab', false),
  ...markdown('lab/documents'),
  ...markdown('lab/entries', false),
  ...nested('examples'),
]
const problems = [...pages.flatMap(check), ...checkSnippets(pages)]

for (const problem of problems) console.error(problem)
console.log(`${pages.length} pages, ${problems.length} problems`)
process.exitCode = problems.length ? 1 : 0

function check(page) {
  const found = []
  prose(page).forEach((line, index) => {
    const complain = (what) => found.push(`${page}:${index + 1}: ${what}`)
    for (const [, span] of line.matchAll(/`([^`]+)`/g)) {
      const path = span.replace(/:[\w:]+$/, '')
      if (ownPath.test(path) && !built.test(path) && !existsSync(join(root, path)))
        complain(`no file ${path}`)
    }
    const text = line.replace(/`[^`]*`/g, '')
    const [word] = banned.exec(text) ?? []
    if (word !== undefined) complain(`"${word}": say it in plain words`)
    for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue
      const [path, anchor] = link.split('#')
      const target = path ? resolve(root, dirname(page), path) : join(root, page)
      if (!existsSync(target)) complain(`dead link ${link}`)
      else if (anchor && !anchors(relative(root, target)).has(anchor)) complain(`no heading for ${link}`)
    }
  })
  return found
}

/** The lines of a page, those of fenced code emptied. */
function prose(page) {
  let fenced = false
  return readFileSync(join(root, page), 'utf8')
    .split('\n')
    .map((line) => {
      const fence = line.trimStart().startsWith('```')
      if (fence) fenced = !fenced
      return fenced || fence ? '' : line
    })
}

/** Headings as their anchors: lower case, spaces as hyphens, punctuation dropped. */
function anchors(page) {
  return new Set(
    prose(page)
      .filter((line) => /^#{1,6} /.test(line))
      .map((line) =>
        line
          .replace(/^#+ /, '')
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
      ),
  )
}

function markdown(folder, recursive = true) {
  return readdirSync(join(root, folder), { recursive })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
    .sort()
}

/** README and the like of each workspace, not of its dependencies. */
function nested(group) {
  return readdirSync(join(root, group), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => markdown(join(group, entry.name), false))
}
