/**
 * `npm run openapi-tools`: gives the OpenAPI documents of the reference service and of an API with every form of schema to
 * tools of others: two linters, a validator, and three generators whose clients have to compile. Fails where one of
 * them reports an error. `-- spectral redocly` runs these alone.
 *
 * Their versions and settings stand in scripts/openapi-tools; they are installed into .cache/openapi-tools, once. Without
 * Python 3.10 or Go 1.24, and where one cannot be installed, what needs it is skipped by name.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { output, root, run } from './command.mjs'
import { serveReference } from './reference-service.mjs'

const settings = join(root, 'scripts/openapi-tools')
const cache = join(root, '.cache/openapi-tools')
const npm = join(cache, 'npm')
const python = join(cache, 'python')
const go = join(cache, 'go')
/** The folder of what the tools make of the documents: it stays there to be looked at. */
const made = join(cache, 'made')

/** The generator is no part of the module of what it makes, which has few dependencies. */
const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

/** Each gives its exit code; 0 is fine. */
const tools = [
  { name: 'redocly', needs: 'npm', check: redocly },
  { name: 'spectral', needs: 'npm', check: spectral },
  { name: 'swagger-parser', needs: 'npm', check: swaggerParser },
  { name: 'openapi-typescript', needs: 'npm', check: openapiTypescript },
  { name: 'openapi-python-client', needs: 'Python 3.10', check: openapiPythonClient },
  { name: 'oapi-codegen', needs: 'Go 1.24', check: oapiCodegen },
]

const install = { npm: installNPM, 'Python 3.10': installPython, 'Go 1.24': installGo }

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !tools.some((tool) => tool.name === name))
if (unknown !== undefined)
  throw new Error(`there is no tool ${unknown}; there are ${tools.map(({ name }) => name).join(', ')}`)

await build()
rmSync(made, { recursive: true, force: true })
const documents = await writeDocuments()
const installed = new Map()
for (const { name, needs, check } of tools.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
  if (!installed.has(needs)) installed.set(needs, await install[needs]())
  if (!installed.get(needs)) {
    console.log(`${name} skipped: ${needs} was not found, or it could not be installed`)
    continue
  }
  for (const [api, path] of documents) {
    const started = performance.now()
    const code = await check(path, join(made, api, name))
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    console.log(`${code === 0 ? 'ok' : 'FAILED'}: ${name}, ${api}, ${seconds} s`)
    if (code !== 0) process.exitCode = 1
  }
}

/** Writes the document of each API, and gives its place by the name of the API. */
async function writeDocuments() {
  mkdirSync(made, { recursive: true })
  const { document } = await import('./openapi-tools/every-form.mjs')
  const write = (api, value) => {
    const path = join(made, `${api}.json`)
    writeFileSync(path, JSON.stringify(value, null, 2))
    return [api, path]
  }
  const reference = await serveReference(async (url, authorization) => {
    const reply = await fetch(`${url}/openapi.json`, { headers: { authorization } })
    return reply.json()
  })
  return [write('reference-api', reference), write('every-form', document)]
}

function redocly(path) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  return run(bin('redocly'), ['lint', path, '--config', join(settings, 'redocly.yaml')], { env })
}

function spectral(path) {
  return run(bin('spectral'), ['lint', path, '--ruleset', join(settings, 'spectral.yaml')])
}

async function swaggerParser(path) {
  const require = createRequire(join(npm, 'package.json'))
  const { default: parser } = await import(pathToFileURL(require.resolve('@apidevtools/swagger-parser')).href)
  try {
    await parser.validate(JSON.parse(readFileSync(path, 'utf8')))
    return 0
  } catch (error) {
    console.error(String(error))
    return 1
  }
}

async function openapiTypescript(path, folder) {
  const file = join(folder, 'api.ts')
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return (
    (await run(bin('openapi-typescript'), [path, '--output', file])) ||
    (await run(process.execPath, [tsc, '--noEmit', '--strict', '--ignoreConfig', file]))
  )
}

/** Content types it has no code for are named, and nothing else may be. */
const unsupported = [
  // `*/*` of a body that is a stream, which has no schema.
  /^Missing schema$/,
  /^Unsupported content type text\/plain$/,
  /\(Unsupported content_type image\/svg\+xml.*\), response will be omitted/,
]

async function openapiPythonClient(path, folder) {
  const lines = []
  const env = {
    ...process.env,
    PATH: `${binOf(python)}${delimiter}${process.env.PATH}`,
    NO_COLOR: '1',
    COLUMNS: '500',
  }
  const options = ['--path', path, '--output-path', join(folder, 'client'), '--meta', 'none', '--overwrite']
  mkdirSync(folder, { recursive: true })
  const code = await run(join(binOf(python), 'openapi-python-client'), ['generate', ...options], {
    env,
    onLine: (line) => lines.push(line),
  })
  const about = /^(?:$|[ {}[\]]|Generating |Warning\(s\) encountered|WARNING parsing |If you believe)/
  const wrong = lines.filter((line) => !about.test(line) && !unsupported.some((each) => each.test(line)))
  for (const line of wrong) console.error(`not generated: ${line}`)
  const check = [join(settings, 'import_all.py')]
  return code || wrong.length || run(join(binOf(python), 'python'), check, { cwd: folder })
}

async function oapiCodegen(path, folder) {
  mkdirSync(folder, { recursive: true })
  for (const file of ['go.mod', 'go.sum']) cpSync(join(settings, file), join(folder, file))
  const config = join(settings, 'oapi-codegen.yaml')
  return (
    (await run(join(go, 'oapi-codegen'), ['-config', config, '-o', join(folder, 'api.go'), path])) ||
    (await run('go', ['build', './...'], { cwd: folder }))
  )
}

function bin(name) {
  return join(npm, 'node_modules/.bin', name)
}

function binOf(environment) {
  return join(environment, 'bin')
}

/** Anew when what is wanted changed, or when what was there is no whole one. */
async function isInstalled(folder, wanted, install) {
  const mark = join(folder, 'installed.txt')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return true
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  if ((await install()) !== 0) return false
  writeFileSync(mark, wanted)
  return true
}

function installNPM() {
  const lock = readFileSync(join(settings, 'package-lock.json'), 'utf8')
  return isInstalled(npm, lock, () => {
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(settings, file), join(npm, file))
    return run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error'], { cwd: npm })
  })
}

function installPython() {
  const condition = 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10)'
  const command = ['python3', 'python'].find((each) => output(each, ['-c', condition]) !== null)
  if (command === undefined) return false
  const requirements = join(settings, 'requirements.txt')
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps']
  return isInstalled(
    python,
    readFileSync(requirements, 'utf8'),
    async () =>
      (await run(command, ['-m', 'venv', python])) ||
      (await run(join(binOf(python), 'python'), [...pip, '--requirement', requirements])),
  )
}

function installGo() {
  const version = /go1\.(\d+)/.exec(output('go', ['version']) ?? '')
  if (version === null || Number(version[1]) < 24) return false
  return isInstalled(go, generator, () =>
    run('go', ['install', generator], { env: { ...process.env, GOBIN: go } }),
  )
}
