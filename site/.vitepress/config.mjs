/**
 * The documents of this repository as a site. The pages are the files that people read on GitHub: none is copied, and
 * links between them, written for GitHub, are turned into links of the site. `npm run site` builds and serves it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (page) => readFileSync(join(root, page), 'utf8')
const titleOf = (page) => /^# (.*)$/m.exec(read(page))[1].replaceAll('`', '')

/** Files outside docs/ that are pages too, and their addresses. */
const elsewhere = {
  'README.md': 'readme.md',
  'ARCHITECTURE.md': 'internals/architecture.md',
  'CONTRIBUTING.md': 'internals/contributing.md',
  'TENETS.md': 'internals/tenets.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
  'lab/README.md': 'lab/index.md',
  'lab/entries/README.md': 'lab/entries.md',
  ...Object.fromEntries(below('lab/documents').map((page) => [page, page.replace('/documents', '')])),
  'examples/reference-api/README.md': 'examples/reference-api.md',
}
const pages = {
  ...Object.fromEntries(below('docs').map((page) => [page, page.slice('docs/'.length)])),
  ...elsewhere,
  'docs/README.md': 'index.md',
}

export default defineConfig({
  lang: 'en',
  title: 'Volant',
  description: 'An HTTP framework for Node.js with its server and router in Rust',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: root,
  outDir: join(root, 'site/dist'),
  cacheDir: join(root, '.cache/site'),
  srcExclude: everythingBut(Object.keys(pages)),
  rewrites: pages,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // The anchors that GitHub gives headings; scripts/check-docs.mjs holds links to them.
    anchor: { slugify: anchorOf },
    config(md) {
      md.core.ruler.push('links between files', linksBetweenFiles)
      md.core.ruler.push('cells with prose', markProse)
      md.renderer.rules.html_block = showExamplesName
      // These pages are not Vue's templates: braces are text.
      for (const kind of ['text', 'code_inline']) {
        const render = md.renderer.rules[kind]
        md.renderer.rules[kind] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
      }
    },
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md') page.frontmatter = home
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guide', link: '/guide/01-first-app', activeMatch: '^/(guide|migrate)/' },
      {
        text: 'Reference',
        link: '/reference',
        activeMatch: '^/(reference|limits|errors|adapters|wire-verdicts)',
      },
      { text: 'Lab', link: '/lab/', activeMatch: '^/lab/' },
      { text: 'Inside', link: '/internals/architecture', activeMatch: '^/(internals|decisions)/' },
    ],
    sidebar: sidebar(),
    docFooter: { prev: 'Previous', next: 'Next' },
    footer: { message: 'MIT licensed' },
  },
})

const home = {
  layout: 'home',
  title: 'Volant',
  titleTemplate: false,
  hero: {
    name: 'Volant',
    text: 'HTTP for Node.js, with its server and router in Rust',
    tagline:
      'Your handlers are TypeScript. One declaration of a route types them, checks requests and replies, describes the API and types its client.',
    actions: [
      { theme: 'brand', text: 'First app', link: '/guide/01-first-app' },
      { theme: 'alt', text: 'What it is, and the numbers', link: '/readme' },
    ],
  },
}

/** The groups and their order are those of docs/README.md. */
function sidebar() {
  const groups = read('docs/README.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, link]) => ({
        text: text.replace(/\.md$/, ''),
        link: addressOf(posix.join('docs', link)),
      })),
    }))
  const decisions = below('docs/decisions').map((page) => ({ text: titleOf(page), link: addressOf(page) }))
  return [...groups, { text: 'Decisions', collapsed: true, items: decisions }]
}

/**
 * A link to a page becomes the page's address. A link to any other file becomes text, because the site has no source
 * code. A link to nothing fails the build.
 */
function linksBetweenFiles(state) {
  const page = relative(root, state.env.realPath ?? state.env.path)
  for (const { children } of state.tokens) {
    let dropped = 0
    for (const token of children ?? []) {
      if (token.type === 'link_close' && dropped > 0) {
        token.type = 'text'
        dropped--
      }
      if (token.type !== 'link_open') continue
      const href = decodeURI(token.attrGet('href'))
      if (/^([a-z]+:|#)/.test(href)) continue
      const [path, anchor] = href.split('#')
      const target = posix.join(dirname(page), path)
      if (!existsSync(join(root, target))) throw new Error(`${page}: dead link ${href}`)
      if (target in pages) {
        token.attrSet('href', addressOf(target) + (anchor === undefined ? '' : `#${anchor}`))
      } else if (target.replace(/\/$/, '') === 'docs/decisions') {
        token.attrSet('href', addressOf(below('docs/decisions')[0]))
      } else {
        token.type = 'text'
        dropped++
      }
    }
  }
}

/** A cell that holds a sentence gets a least width, so that columns of figures beside it do not crush it. */
function markProse({ tokens }) {
  tokens.forEach((token, index) => {
    if (token.type === 'td_open' && tokens[index + 1].content.length > 40) token.attrJoin('class', 'prose')
  })
}

/** `<!-- examples/hello/main.ts -->` names the file that the code below it is. */
function showExamplesName(tokens, index) {
  const { content } = tokens[index]
  const [, file] = /^<!-- (examples\/\S+) -->\s*$/.exec(content) ?? []
  return file === undefined ? content : `<p class="file">${file}</p>\n`
}

function addressOf(page) {
  if (!(page in pages)) throw new Error(`there is no page ${page}`)
  return `/${pages[page].replace(/(?:(^|\/)index)?\.md$/, '$1')}`
}

function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function below(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name))
    .sort()
}

/** VitePress takes what it must not read, not what it shall: all folders without pages, and each page that is none. */
function everythingBut(wanted) {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !wanted.some((page) => page.startsWith(`${entry.name}/`)))
    .map((entry) => `${entry.name}/**`)
  const others = [...below('lab'), ...below('examples')].filter((page) => !wanted.includes(page))
  return [...folders, ...others]
}
