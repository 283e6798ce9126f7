/**
 * `npm run autobahn`: has the cases of the Autobahn test suite (RFC 6455, RFC 7692) talk to an app that sends back every
 * message. The native engine gets all 517, node-http those without long runs of messages. Fails where a case fails, where
 * one is not strict that is not known as such, and where one that is known became strict. Such a case runs once more,
 * alone: it has 0.5 s or 1 s to end, which a busy machine may miss.
 *
 * `-- '6.*' 7.1.1` runs these cases alone, on both; `-- '*'` runs all of them on both, which takes a quarter of an hour;
 * `-- --short` leaves out most runs of 1,000 compressed messages, which take minutes.
 * Needs Python 3.10 with venv, and once the package index; says so and passes without. What runs the cases is kosoku,
 * since the original needs Python 2.
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { root, run } from './command.mjs'
import { pythonTool } from './python.mjs'

/** The reports of the last run stay here to be looked at. */
const reports = join(root, '.cache/autobahn-reports')

/** Groups 12 and 13 test compression with runs of 1,000 messages: minutes in which the library ws is tested, not Volant. */
const functional = ['1.*', '2.*', '3.*', '4.*', '5.*', '6.*', '7.*', '9.*', '10.*']

/**
 * `notStrict` names the cases whose result is right, and comes another way than the best: the library ws looks at text when
 * the whole message has come, so that one which is no UTF-8 fails later than it could.
 */
const adapters = [
  { type: 'native', cases: ['*'], short: [...functional, '12.1.*', '13.1.*'], notStrict: [] },
  { type: 'node-http', cases: functional, notStrict: ['6.4.1', '6.4.2', '6.4.3', '6.4.4'] },
]

/** How kosoku calls a case that went well, and a close that did. */
const fine = new Set(['OK', 'NON-STRICT', 'INFORMATIONAL'])

const commands = await pythonTool('autobahn', mendKosoku)
if (commands !== null) {
  await build()
  const { createApp } = await import('../packages/volant/dist/src/index.js')
  const { values, positionals: asked } = parseArgs({
    options: { short: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  rmSync(reports, { recursive: true, force: true })
  for (const { type, cases, short = cases, notStrict } of adapters) {
    const wanted = asked.length > 0 ? asked : values.short ? short : cases
    const results = await runOn(createApp, type, wanted, 2)
    const unexpected = Object.values(faultsOf(results, notStrict)).flat()
    if (unexpected.length > 0) {
      console.log(`${type}: once more, alone: ${unexpected.join(' ')}`)
      Object.assign(results, await runOn(createApp, type, unexpected, 1))
    }
    if (!judge(type, results, notStrict)) process.exitCode = 1
  }
}

/** Gives what kosoku says of each case: `{ '1.1.1': { behavior, behaviorClose, … }, … }`. */
async function runOn(createApp, type, cases, parallelism) {
  // Group 9 sends messages of 16 MiB, and such of 4 MiB in frames of 64 bytes.
  const app = createApp({ adapter: { type }, signals: false, limits: { maxFragments: 100_000 } })
  app.ws('/', {
    compress: { threshold: 0 },
    maxMessageSize: 16 * 1024 * 1024,
    maxSocketBuffer: 32 * 1024 * 1024,
    message: (ws, message) => void ws.send(message),
  })
  const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
  const out = join(reports, type)
  const include = cases.flatMap((name) => ['--include', name])
  // Its exit code says that a case failed; which one is in the report.
  const options = [
    '--mode',
    'fuzzingclient',
    '--parallelism',
    String(parallelism),
    '--outdir',
    out,
    ...include,
  ]
  await run(join(commands, 'kosoku'), [...options, `127.0.0.1:${port}`])
  await app.close()
  const [results] = Object.values(JSON.parse(readFileSync(join(out, 'index.json'), 'utf8')))
  return results
}

/** Gives the names of the cases that are not as they should be. */
function faultsOf(results, notStrict) {
  const names = Object.keys(results)
  const of = (behavior) => names.filter((name) => results[name].behavior === behavior)
  return {
    failed: names.filter(
      (name) => !fine.has(results[name].behavior) || !fine.has(results[name].behaviorClose),
    ),
    unknown: of('NON-STRICT').filter((name) => !notStrict.includes(name)),
    strictNow: of('OK').filter((name) => notStrict.includes(name)),
  }
}

/** Prints the sum, and each case that is not as it should be; gives whether there is none. */
function judge(type, results, notStrict) {
  const names = Object.keys(results)
  const of = (behavior) => names.filter((name) => results[name].behavior === behavior)
  const { failed, unknown, strictNow } = faultsOf(results, notStrict)
  const sums = [
    `${of('OK').length} ok`,
    `${of('INFORMATIONAL').length} informational`,
    `${of('NON-STRICT').length} non-strict`,
    `${failed.length} failed`,
  ]
  console.log(`${type}: ${names.length} cases: ${sums.join(', ')}`)
  for (const name of failed)
    console.log(`  ${name} failed: ${results[name].behavior}, its close ${results[name].behaviorClose}`)
  for (const name of unknown) console.log(`  ${name} is not strict`)
  for (const name of strictNow)
    console.log(`  ${name} is strict now: take it from the list in scripts/autobahn.mjs`)
  if (names.length === 0) console.log('  no case ran')
  return names.length > 0 && failed.length + unknown.length + strictNow.length === 0
}

/**
 * kosoku 0.1.0 gives the cases of groups 12 and 13 a message that came compressed as bytes, but one that came as it is as a
 * string, which they cannot take. A server need not compress each message (RFC 7692 §6).
 */
function mendKosoku(environment) {
  const [python] = readdirSync(join(environment, 'lib'))
  const path = join(environment, 'lib', python, 'site-packages/kosoku/cases/case12_x_x.py')
  const text = readFileSync(path, 'utf8')
  const head = 'def onMessage(self, msg, binary):\n'
  const parts = text.split(head)
  if (parts.length !== 2) throw new Error(`${path} is not the one that is mended here`)
  const mended = `   if isinstance(msg, str):\n      msg = msg.encode('latin-1' if binary else 'utf-8')\n`
  writeFileSync(path, parts.join(head + mended))
}
