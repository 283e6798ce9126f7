/** `npm run attacks`: see `--help`. `scripts/attacks.mjs` builds what this needs. */
import { parseArgs } from 'node:util'
import { attacks } from './attacks.ts'
import { makeCertificate } from '@volant/test-kit'
import { type SubjectName, subjectNames } from './server.ts'
import { type Trial, inMegabytes, tryAttack, tryTarget } from './trial.ts'

const help = `usage: npm run attacks -- [--adapter NAME] [--tls] [--quick] [NAME …]

Attacks a server by HTTP/2 and TLS, each time a fresh process, and prints what came of it. Exit code 1: one of
them cost too much, or the server did not end what it must end. NAME is an attack, or how its name begins; all of them
without one. A server may run fewer than 500 handlers of a flood and send back ten times its bytes; grow by 10 MB, for bombs
and holds by ten times what it was sent as well, for single requests by 1 MiB each, for replies that wait by
maxBufferedReplies, for handshakes that only a time limit ends by 8 KiB each; use less than a tenth of a core afterwards;
and it must answer others. Bombs of fields may cost 100 µs of CPU time a KiB, single requests 10 ms each.

"in KB" is what was handed to the socket of the attacker, and "out KB" what was read from it, over TLS both in plaintext;
what a deaf attacker was sent and never read is not in it.

  --adapter NAME       ${subjectNames.join(', ')} (native); bun needs BUN=/path/to/bun
  --tls                HTTP/2 over TLS; without it by prior knowledge
  --quick              fewer of everything, and shorter time limits of the server: a minute or less
  --target HOST:PORT   a server that runs already; only what it sends is known of it
  --limit NAME=N       of Volant, such as --limit maxStreams=1000
  --json               a line of JSON for each attack
  --list               the attacks

examples
  npm run attacks
  npm run attacks -- --quick --tls
  npm run attacks -- --adapter node rapid-reset made-you-reset
  npm run attacks -- --target 127.0.0.1:8443 --tls ping`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    adapter: { type: 'string', default: 'native' },
    tls: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    target: { type: 'string' },
    limit: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const widths = [32, 8, 8, 9, 9, 22, 9, 8] as const

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.help) {
    console.log(help)
    return 0
  }
  if (values.list) {
    for (const { name, about } of attacks) console.log(`${name.padEnd(34)}${about}`)
    return 0
  }
  const chosen = attacks.filter(
    ({ name }) => positionals.length === 0 || positionals.some((one) => name.startsWith(one)),
  )
  const fault = faultOf(chosen.length)
  if (fault !== null) {
    console.error(fault)
    return 2
  }
  const certificate = makeCertificate()
  const limits = Object.fromEntries(
    values.limit.map((pair) => [pair.split('=')[0] as string, Number(pair.split('=')[1])]),
  )
  const course = { quick: values.quick, encrypted: values.tls, certificate, limits }
  const [host = '127.0.0.1', port] = (values.target ?? '').split(':')
  let failed = 0
  if (!values.json) console.log(headline())
  for (const attack of chosen) {
    if (values.target !== undefined && attack.overTls && !values.tls) continue
    let trial: Trial
    try {
      trial =
        values.target === undefined
          ? await tryAttack(values.adapter as SubjectName, attack, course)
          : await tryTarget({ host, port: Number(port), encrypted: values.tls }, attack, values.quick)
    } catch (error) {
      failed += 1
      console.log(`${attack.name}: FAILED: ${(error as Error).message}`)
      continue
    }
    if (trial.faults.length > 0) failed += 1
    console.log(values.json ? JSON.stringify(trial) : rowOf(trial))
  }
  if (!values.json)
    console.log(`${chosen.length} attacks, ${chosen.length - failed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

function faultOf(count: number): string | null {
  if (process.platform !== 'linux')
    return 'attacks skipped: memory and CPU time are read from /proc: Linux only'
  if (!subjectNames.includes(values.adapter as SubjectName))
    return `--adapter takes ${subjectNames.join(', ')}, not ${values.adapter}`
  if (count === 0) return `no attack is called ${positionals.join(' or ')}: --list has all of them`
  const wrong = values.limit.find((pair) => !/^\w+=\d+$/.test(pair))
  return wrong === undefined ? null : `--limit takes NAME=N, not ${wrong}`
}

function headline(): string {
  const where = values.target ?? `${values.adapter}, ${values.tls ? 'TLS' : 'h2c'}`
  const names = ['attack', 'sent', 'calls', 'in KB', 'out KB', 'MB before/peak/after', 'CPU ms', 's']
  return `${where}${values.quick ? ', short form' : ''}\n${cells(names)}  how it ended; verdict`
}

function rowOf({ attack, outcome, calls, memory, cpu, took, faults }: Trial): string {
  const figures = [
    attack.name,
    String(outcome.count),
    calls === null ? '–' : String(calls),
    (outcome.sent / 1e3).toFixed(1),
    (outcome.received / 1e3).toFixed(1),
    memory === null
      ? '–'
      : [memory.before, memory.peak, memory.after].map((bytes) => inMegabytes(bytes)).join('/'),
    cpu === null ? '–' : String(cpu.during),
    (took / 1e3).toFixed(1),
  ]
  const held = memory?.held == null ? '' : `${inMegabytes(memory.held - memory.before)} MB held; `
  return `${cells(figures)}  ${outcome.ended}; ${held}${faults.length === 0 ? 'passed' : `FAILED: ${faults.join(', ')}`}`
}

function cells(texts: readonly string[]): string {
  return texts
    .map((text, at) => (at === 0 ? text.padEnd(widths[at] as number) : text.padStart(widths[at] as number)))
    .join(' ')
}
