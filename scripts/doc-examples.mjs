/**
 * Examples in the guide: a code block under a line such as `<!-- examples/hello/main.ts -->` is that file, so that
 * what a page shows is what the tests run. `npm run docs` fills it in.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'

const shown = /^<!-- (examples\/[\w./-]+) -->\n(```.*)\n(?:[^]*?\n)??```$/gm

/** The pages with examples, as they should be. Throws for an example that does not exist, naming the page. */
export function pagesWithExamples() {
  const pages = {}
  for (const name of readdirSync(join(root, 'docs'), { recursive: true })) {
    if (!name.endsWith('.md')) continue
    const page = join('docs', name)
    const text = readFileSync(join(root, page), 'utf8')
    if (!text.includes('<!-- examples/')) continue
    pages[page] = text.replace(shown, (_, file, fence) => {
      const path = join(root, file)
      if (!existsSync(path)) throw new Error(`${page} shows ${file}, which does not exist`)
      return `<!-- ${file} -->\n${fence}\n${readFileSync(path, 'utf8').trimEnd()}\n\`\`\``
    })
  }
  return pages
}
