/**
 * What the entries of `volant` export (`exports` of its package.json), read from their emitted declarations: each export
 * with the entries that have it, its signature, its docstring and, for classes and interfaces, its members. Needs
 * compiled TypeScript.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parse } from '@babel/parser'
import { root } from './command.mjs'

const packages = {
  volant: join(root, 'packages/volant/dist/src/index.d.ts'),
  '@volant/engine': join(root, 'packages/engine/dist/src/index.d.ts'),
}

/** What people import: `{ name, path }` of each entry, `path` the file of its declarations. */
export const entries = entriesOf('packages/volant')

function entriesOf(folder) {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  return Object.entries(exports)
    .filter(([entry]) => entry !== './package.json')
    .map(([entry, { types }]) => {
      if (types === undefined) throw new Error(`${folder}: "${entry}" of exports has no types`)
      return { name: `${name}${entry.slice(1)}`, path: join(root, folder, types) }
    })
}

/**
 * `{ name, entries, file, kind, signatures, doc, members: [{ name, signatures, doc }] }` in the order of the entries.
 * What several entries export is there once; two things of one name are two.
 */
export function publicApi() {
  const all = new Map()
  for (const entry of entries) {
    for (const { name, from, local } of exportsOf(entry.path)) {
      const found = find(from, local)
      const key = `${name} of ${found[0].module.path}`
      if (!all.has(key)) all.set(key, { name, found, entries: [] })
      all.get(key).entries.push(entry.name)
    }
  }
  return [...all.values()].map((each) => ({ ...describe(each.name, each.found), entries: each.entries }))
}

const modules = new Map()

function open(path) {
  if (modules.has(path)) return modules.get(path)
  const text = readFileSync(path, 'utf8')
  const { body } = parse(text, { sourceType: 'module', plugins: [['typescript', { dts: true }]] }).program
  const module = { path, text, body }
  modules.set(path, module)
  return module
}

function resolve(path, specifier) {
  return packages[specifier] ?? join(dirname(path), specifier.replace(/\.ts$/, '.d.ts'))
}

function exportsOf(path) {
  return open(path).body.flatMap((statement) => {
    if (statement.type === 'ImportDeclaration') return []
    const { type, source, specifiers, declaration } = statement
    if (type === 'ExportNamedDeclaration' && declaration) {
      return namesOf(declaration).map((name) => ({ name, from: path, local: name }))
    }
    if (type === 'ExportNamedDeclaration' && (source || specifiers.length === 0)) {
      return specifiers.map(({ exported, local }) => ({
        name: exported.name,
        from: resolve(path, source.value),
        local: local.name,
      }))
    }
    // What a file declares for itself is no export.
    if (type !== 'ExportAllDeclaration' && namesOf(statement).length > 0) return []
    throw new Error(`${relative(root, path)} has exports that have no name of their own`)
  })
}

/** The declarations of `name`: several where a function has overloads. */
function find(path, name) {
  const module = open(path)
  const found = module.body.filter((statement) => namesOf(statement.declaration ?? statement).includes(name))
  if (found.length > 0) return found.map((statement) => ({ module, statement }))
  for (const { type, source, specifiers } of module.body) {
    const imported = specifiers?.find((each) => (each.exported ?? each.local)?.name === name)
    if (imported && source) {
      return find(resolve(path, source.value), (imported.imported ?? imported.local).name)
    }
    if (type === 'ExportAllDeclaration') {
      const there = resolve(path, source.value)
      if (open(there).body.some((each) => namesOf(each.declaration ?? each).includes(name))) {
        return find(there, name)
      }
    }
  }
  throw new Error(`${name} is not declared in ${relative(root, path)}`)
}

function namesOf(node) {
  if (node.type === 'VariableDeclaration') return node.declarations.map(({ id }) => id.name)
  return node.id ? [node.id.name] : []
}

function describe(name, found) {
  const [{ module, statement }] = found
  const node = statement.declaration ?? statement
  const described = {
    name,
    file: relative(root, module.path)
      .replace('/dist/', '/')
      .replace(/\.d\.ts$/, '.ts'),
    kind: node.type,
    signatures: found.map((each) => signature(each.module, each.statement.declaration ?? each.statement)),
    doc: found
      .map((each) => docOf(each.statement))
      .filter(Boolean)
      .join('\n\n'),
    members: [],
  }
  const body =
    node.body?.type === 'TSInterfaceBody' || node.body?.type === 'ClassBody' ? node.body.body : null
  if (body !== null) described.members = membersOf(module, body, inherited(module, node))
  return described
}

/** Tables are shown without their rows. */
function signature(module, node) {
  if (node.type === 'VariableDeclaration' && node.loc.end.line - node.loc.start.line > 10) {
    return `const ${node.declarations[0].id.name}: { … }`
  }
  const end =
    node.body?.type === 'TSInterfaceBody' || node.body?.type === 'ClassBody' ? node.body.start : node.end
  return module.text
    .slice(node.start, end)
    .replace(/^declare /, '')
    .replace(/;?\s*$/, '')
    .replaceAll(/^( +)/gm, (indent) => ' '.repeat(indent.length / 2))
}

/** Overloads are one member. */
function membersOf(module, body, outer) {
  const members = new Map()
  for (const node of body) {
    const name = node.key?.name ?? node.key?.value
    if (name === undefined || node.computed || node.type.startsWith('ClassPrivate')) continue
    if (node.accessibility === 'private' || node.accessibility === 'protected') continue
    const member = members.get(name) ?? { name, signatures: [], doc: '' }
    const text = module.text.slice(node.start, node.end)
    member.signatures.push(text.replace(/;$/, '').replaceAll(/\s+/g, ' '))
    const doc = docOf(node) || outer.get(name) || ''
    if (!member.doc.includes(doc)) member.doc = [member.doc, doc].filter(Boolean).join('\n\n')
    members.set(name, member)
  }
  return [...members.values()]
}

/** Docstrings of the interfaces of the same package that an interface extends or a class implements. */
function inherited(module, node) {
  const docs = new Map()
  for (const { expression } of [...(node.extends ?? []), ...(node.implements ?? [])]) {
    try {
      for (const member of describe(expression.name, find(module.path, expression.name)).members) {
        docs.set(member.name, member.doc)
      }
    } catch {
      // A global's, or another library's.
    }
  }
  return docs
}

function docOf(node) {
  const comment = node.leadingComments?.findLast(
    ({ type, value }) => type === 'CommentBlock' && value.startsWith('*'),
  )
  if (comment === undefined) return ''
  return comment.value
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}
