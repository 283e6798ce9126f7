/**
 * `npm run tls-audit`: runs testssl.sh and sslyze against an app that speaks TLS. Fails if testssl.sh finds anything
 * above LOW, or sslyze finds what Mozilla's intermediate profile does not allow. Their findings on the certificate do
 * not count, because it is made for the run: it has no trusted issuer, and is valid for two days.
 *
 * `-- --adapter node-http` tests an app on node:https. It does not run in CI, because it takes two minutes. Needs
 * testssl.sh (Debian has it), Python 3.10 with venv, and the package index once. Fails if one of the two tools is
 * missing, unless `-- --allow-missing` lets the other decide alone. Tests that testssl.sh could not do (its WARN) are
 * printed and do not count.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { output, root } from './command.mjs'
import { capture } from './nodes.mjs'
import { pythonTool } from './python.mjs'

/** The reports of the last run stay in this folder. */
const reports = join(root, '.cache/tls-audit-reports')

const severe = ['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL']

/** Findings on the certificate and DNS, grades that follow from them, and HTTP headers, which the app sets. */
const ofOthers =
  /^(?:cert|intermediate_cert|DNS_|overall_grade|grade_cap|final_score|OCSP|HSTS|HPKP|security_headers)/

const args = process.argv.slice(2)
const allowMissing = args.includes('--allow-missing')
const at = args.indexOf('--adapter')
const adapter = at < 0 ? 'native' : args[at + 1]

try {
  await build()
  const { startServer } = await import('../conformance/attacks/dist/src/server.js')
  const { makeCertificate } = await import('@volant/test-kit')
  const server = await startServer(adapter, { certificate: makeCertificate() })
  rmSync(reports, { recursive: true, force: true })
  mkdirSync(reports, { recursive: true })
  const address = `127.0.0.1:${server.target.port}`
  try {
    const verdicts = [await bySslyze(address), await byTestssl(address)]
    const missing = verdicts.filter((each) => each === null).length
    const isShort = missing === verdicts.length || (missing > 0 && !allowMissing)
    if (isShort) console.log(`failed: ${missing} of 2 tools are missing (--allow-missing lets one be)`)
    if (isShort || verdicts.includes(false)) process.exitCode = 1
  } finally {
    await server.stop()
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

/** Gives the findings of testssl.sh; null if it is not installed. */
async function byTestssl(address) {
  const program = ['testssl', 'testssl.sh'].find((each) => output(each, ['--version']) !== null)
  if (program === undefined) {
    console.log('testssl.sh skipped: it was not found (Debian has it as testssl.sh)')
    return null
  }
  const report = join(reports, 'testssl.json')
  const options = ['--quiet', '--color', '0', '--warnings', 'off', '--jsonfile', report]
  await capture(program, [...options, address], root)
  const findings = JSON.parse(readFileSync(report, 'utf8'))
  const bad = findings.filter(({ id, severity }) => severe.includes(severity) && !ofOthers.test(id))
  const low = findings.filter(({ id, severity }) => severity === 'LOW' && !ofOthers.test(id))
  const undone = findings.filter(({ severity }) => severity === 'WARN')
  console.log(
    `${adapter}, testssl.sh: ${findings.length} findings, ${bad.length} above LOW, ${low.length} LOW, ${undone.length} WARN: tests that could not be done`,
  )
  for (const { id, severity, finding } of [...bad, ...low, ...undone])
    console.log(`  ${severity} ${id}: ${finding}`)
  return findings.length > 0 && bad.length === 0
}

/** Gives the findings of sslyze; null if it is not installed. */
async function bySslyze(address) {
  const commands = await pythonTool('tls-audit')
  if (commands === null) return null
  const { stdout } = await capture(
    join(commands, 'sslyze'),
    ['--mozilla_config', 'intermediate', address],
    root,
  )
  writeFileSync(join(reports, 'sslyze.txt'), stdout)
  const [, verdict] = /COMPLIANCE AGAINST TLS CONFIGURATION([\s\S]*)$/.exec(stdout) ?? []
  if (verdict === undefined) throw new Error(`sslyze came to no verdict: ${stdout.trim().split('\n').at(-1)}`)
  const issues = [...verdict.matchAll(/^ +\* (\w+): (.+)$/gm)].map(([, name, what]) => `${name}: ${what}`)
  const faults = issues.filter((each) => !each.includes('certificate'))
  if (issues.length === 0 && !/OK - Compliant/i.test(verdict)) faults.push(verdict.trim())
  console.log(`${adapter}, sslyze: ${faults.length} differences from Mozilla's intermediate profile`)
  for (const each of faults) console.log(`  ${each}`)
  return faults.length === 0
}
