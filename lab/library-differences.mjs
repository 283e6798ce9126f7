/**
 * What libraries decide otherwise than the tests of own code, and the bytes that they take when they are installed:
 * `node lab/library-differences.mjs [LIBRARY …]`, figures of docs/decisions/0013-what-libraries-do.md. Needs compiled
 * packages and npm. What a library decides otherwise is named line by line.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../scripts/command.mjs'
import { install, installedBytes, library, own, versions } from './library-versions.mjs'

/** By library: rows of a test, each with a name and whether the library decides it as the test does. */
const differences = {
  negotiator: negotiations,
  'content-type': () => mediaTypes((value) => library('content-type').parse(value)),
  'whatwg-mimetype': () => {
    const { MIMEType } = library('whatwg-mimetype')
    return mediaTypes((value) => {
      const { essence, parameters } = new MIMEType(value)
      return { type: essence, parameters: { charset: parameters.get('charset') } }
    })
  },
  helmet: () => {
    const { contentSecurityPolicy } = library('helmet')
    // It asks for defaultSrc in every policy.
    const whole = (given) =>
      Object.keys(given ?? {}).length > 0 ? { defaultSrc: ["'self'"], ...given } : given
    return directives((given) => contentSecurityPolicy({ useDefaults: false, directives: whole(given) }))
  },
  'content-security-policy-builder': () => {
    const build = library('content-security-policy-builder').default
    return directives((given) => build({ directives: given }))
  },
  pluralize: () => singulars((name) => library('pluralize').singular(name)),
  inflection: () => singulars((name) => library('inflection').singularize(name)),
  'json-schema-to-typescript': types,
  '@apidevtools/json-schema-ref-parser': references,
}

const asked = process.argv.slice(2)
for (const name of Object.keys(versions)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  install(name)
  const rows = await differences[name]?.()
  const otherwise = rows?.filter(({ same }) => !same)
  const count = rows === undefined ? '' : `; ${otherwise.length} of ${rows.length} rows otherwise`
  console.log(`${name} ${versions[name]}: ${installedBytes(name).toLocaleString('en-US')} bytes${count}`)
  for (const row of otherwise ?? []) console.log(`  ${row.name}`)
}

/** `packages/volant/test/accepts-rows.ts` */
async function negotiations() {
  const { types: all, languages, encodings } = await own('test/accepts-rows')
  const mime = createRequire(join(root, 'packages/volant/package.json'))('mime').default
  const Negotiator = library('negotiator')
  const fields = [
    ['accept', all, 'mediaTypes', (offer) => (offer.includes('/') ? offer : mime.getType(offer))],
    ['accept-language', languages, 'languages', (offer) => offer],
    ['accept-encoding', encodings, 'encodings', (offer) => offer],
  ]
  return fields.flatMap(([field, rows, method, full]) =>
    rows.map(([header, offers, expected]) => {
      const negotiator = new Negotiator({ headers: header === null ? {} : { [field]: header } })
      const chosen = negotiator[method](offers.map(full))[0]
      const same = chosen === (expected === false ? undefined : full(expected))
      return { name: `${field}: ${String(header).slice(0, 60)} for ${offers}: ${chosen}`, same }
    }),
  )
}

/** `packages/volant/test/media-type-rows.ts`; what is malformed has to throw. */
async function mediaTypes(parse) {
  const { mediaTypes: rows } = await own('test/media-type-rows')
  return rows.map(([value, essence, charset]) => {
    const { type, parameters } = attempt(() => parse(value)) ?? {}
    const found = [type ?? null, parameters?.charset?.toLowerCase()]
    const same = found[0] === essence && (essence === null || (found[1] ?? undefined) === charset)
    return { name: `${JSON.stringify(value)}: ${found}`, same }
  })
}

/** `packages/volant/test/csp-rows.ts`; all of them have to throw. */
async function directives(write) {
  const { badDirectives } = await own('test/csp-rows')
  return badDirectives.map(([, given]) => {
    const written = attempt(() => write(given))
    return { name: `accepts ${JSON.stringify(given)}`, same: written === undefined }
  })
}

/** The names of routers in the guide. */
async function singulars(singular) {
  const { parameterOf } = await own('src/procedures/rest/singular')
  const guide = readFileSync(join(root, 'docs/guide/20-procedures.md'), 'utf8')
  const section = guide.slice(guide.indexOf('### Routers inside routers'), guide.indexOf('## tRPC'))
  const lines = section.split('\n').filter((line) => /^\| `|^The list has/.test(line))
  const names = lines.flatMap((line) => [...(line.split('|')[1] ?? line).matchAll(/`([\w-]+)`/g)])
  return [...new Set(names.map(([, name]) => name))].map((name) => {
    const parameter = `${singular(name).replaceAll(/-(.)/g, (_, next) => next.toUpperCase())}Id`
    return { name: `${name}: ${parameter}, not ${parameterOf(name)}`, same: parameter === parameterOf(name) }
  })
}

/** `packages/volant/test/type-text-rows.ts`, compared by the compiler. */
async function types() {
  const { typeTexts } = await own('test/type-text-rows')
  const { TypeTexts } = await own('src/generate/type-text')
  const { compile } = library('json-schema-to-typescript')
  const options = {
    bannerComment: '',
    additionalProperties: false,
    $refOptions: { resolve: { http: false } },
  }
  const folder = join(root, '.cache/libraries/types')
  mkdirSync(folder, { recursive: true })
  const rows = []
  for (const [schema] of typeTexts) {
    const name = JSON.stringify(schema)
    const texts = new TypeTexts([])
    const text = texts.of(schema, 'Hint')
    const declared = [...texts.declared].map(([key, each]) => `export type ${key} = ${each}`)
    // The library takes objects, so each schema is that of a property.
    const whole = { type: 'object', properties: { it: schema }, required: ['it'], $defs: schema.$defs ?? {} }
    try {
      const theirs = await compile(structuredClone(whole), 'Whole', options)
      const at = rows.length
      rows.push({ name, same: true })
      const file = `namespace Own { ${declared.join('\n')}\nexport type It = ${text} }
namespace Theirs { ${theirs} }
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T
export const same: Same<Flat<Own.It>, Flat<Theirs.Whole['it']>> = true\n`
      writeFileSync(join(folder, `${at}.ts`), file)
    } catch (error) {
      rows.push({ name: `${name}: ${error.message}`, same: false })
    }
  }
  const files = rows.flatMap(({ same }, at) => (same ? [`${at}.ts`] : []))
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', '--noEmit', '--strict']
  const { stdout } = spawnSync(process.execPath, [...tsc, ...files], { cwd: folder, encoding: 'utf8' })
  for (const [, at] of stdout.matchAll(/^(\d+)\.ts/gm)) rows[at].same = false
  return rows
}

/** References by name, by anchor and to what contains them; each leads to a constant, or to the whole. */
async function references() {
  const { normalize } = await own('src/schema/normalize')
  const { resolverOf } = await own('src/schema/document')
  const { dereference } = library('@apidevtools/json-schema-ref-parser')
  const it = { const: 1 }
  const schemas = [
    { $ref: '#/$defs/it', $defs: { it } },
    { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': it } },
    { $ref: '#it', $defs: { x: { $anchor: 'it', ...it } } },
    { $ref: 'urn:it', $defs: { x: { $id: 'urn:it', ...it } } },
    { $id: 'https://a.example/b/c', $ref: 'it', $defs: { x: { $id: 'it', ...it } } },
    {
      $id: 'https://a.example/b/c',
      $ref: '/b/it#x',
      $defs: { x: { $id: 'it', $defs: { y: { $anchor: 'x', ...it } } } },
    },
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      allOf: [{ $ref: '#it' }],
      definitions: { x: { $id: '#it', ...it } },
    },
    { $dynamicRef: '#it', $defs: { x: { $dynamicAnchor: 'it', ...it } } },
  ]
  const rows = []
  for (const schema of schemas) {
    const normal = normalize(schema, 'it').schema
    const { $ref } = normal.allOf?.[0] ?? normal
    if (resolverOf(normal)($ref)?.schema.const !== 1)
      throw new Error(`own code fails: ${JSON.stringify(schema)}`)
    const options = { resolve: { http: false, file: false } }
    const whole = await dereference(structuredClone(schema), options).catch(() => ({}))
    rows.push({ name: JSON.stringify(schema), same: (whole.allOf?.[0] ?? whole).const === 1 })
  }
  return rows
}

/** Undefined where it throws. */
function attempt(make) {
  try {
    return make()
  } catch {
    return undefined
  }
}
