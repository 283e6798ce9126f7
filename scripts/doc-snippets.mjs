/**
 * The TypeScript in the documents compiles: each fenced `ts` block is a module of its own, and one run of the compiler
 * checks them all. What stands after `ts` says otherwise:
 *
 * - `ts continued`: the block goes on where the one before it on the page ended, and sees its names;
 * - `ts ignore`: not checked;
 * - `ts express` and the like: not checked, because it shows another framework.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'

const unchecked = new Set(['ignore', 'express', 'fastify', 'hono', 'koa', 'elysia', 'ramapi'])

/** What a newcomer has after `tsc --init`, and Node's types. */
const compilerOptions = {
  strict: true,
  target: 'esnext',
  module: 'nodenext',
  moduleDetection: 'force',
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noUncheckedSideEffectImports: true,
  types: ['node'],
  declaration: true,
  noEmit: true,
  skipLibCheck: true,
}

/** `page:line: what is wrong` for the blocks of `pages`, paths relative to the root. Needs compiled packages. */
export function checkSnippets(pages) {
  const problems = []
  const modules = pages.flatMap((page) => modulesOf(page, problems))
  if (modules.length === 0) return problems
  if (!existsSync(join(root, 'packages/volant/dist/src/index.d.ts'))) {
    return [...problems, 'packages/volant is not compiled: run npm run build']
  }
  const folder = join(root, '.cache/doc-snippets')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  modules.forEach(({ lines }, index) => writeFileSync(join(folder, `${index}.ts`), lines.join('\n')))

  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '--pretty', 'false', '-p', '.'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const errors = [...stdout.matchAll(/^(\d+)\.ts\((\d+),\d+\): error (.*(?:\n .*)*)/gm)]
  for (const [, index, line, what] of errors) problems.push(`${modules[index].page}:${line}: ${what}`)
  if (status !== 0 && errors.length === 0) problems.push(`TypeScript failed: ${stdout}${stderr}`)
  return problems
}

/** Each module has its code on the lines that it has on the page, so that the compiler's positions are the page's. */
function modulesOf(page, problems) {
  const modules = []
  let fence = null
  let target = null
  readFileSync(join(root, page), 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const mark = /^ *(`{3,}) *(.*)$/.exec(line)
      if (fence !== null) {
        if (mark && mark[2] === '' && mark[1].length >= fence) fence = target = null
        else if (target) target[index] = line
        return
      }
      if (!mark) return
      fence = mark[1].length
      const [language, kind, ...more] = mark[2].trim().split(/ +/)
      if (language !== 'ts' && language !== 'typescript') return
      if (more.length > 0 || (kind !== undefined && kind !== 'continued' && !unchecked.has(kind))) {
        problems.push(
          `${page}:${index + 1}: "${mark[2]}" is not ts, ts continued or ts ${[...unchecked].join(', ')}`,
        )
      } else if (kind === 'continued') {
        if (modules.length === 0)
          problems.push(`${page}:${index + 1}: nothing that this block could continue`)
        target = modules.at(-1)?.lines ?? null
      } else if (kind === undefined) {
        target = Array(index).fill('')
        modules.push({ page, lines: target })
      }
    })
  for (const { lines } of modules) for (let at = 0; at < lines.length; at++) lines[at] ??= ''
  return modules
}
