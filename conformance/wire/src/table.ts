import { writeFileSync } from 'node:fs'

import type { Case } from './case.ts'
import type { RecordedAdapter, RecordedFile } from './recorded.ts'
import { expectedSummary } from './verdict.ts'

/** `docs/wire-verdicts.md` of the repository, from the compiled tree. */
const file = new URL('../../../../docs/wire-verdicts.md', import.meta.url)

type Records = readonly (readonly [adapter: RecordedAdapter, recorded: RecordedFile])[]

export function writeTable(cases: readonly Case[], records: Records): void {
  writeFileSync(file, table(cases, records))
}

/** The page of verdicts: counts per group, then for each adapter the cases in which it is not as expected. */
export function table(cases: readonly Case[], records: Records): string {
  const groups = [...new Set(cases.map((one) => one.group))]
  const names = records.map(([adapter]) => `\`${adapter}\``)
  const nodes = records.map(([adapter, { node }]) => `\`${adapter}\` on ${node}`)
  return [
    '# Wire verdicts',
    '',
    `Raw bytes in, verdicts out: ${cases.length} cases from RFC 9110, RFC 9112 and published attacks (\`conformance/wire\`).`,
    'The native engine must pass every one, whole, cut in two, and byte by byte. Cases of up to 2,048 bytes are cut at every boundary; the few longer ones near line ends and at 24 more places, and in pieces.',
    `The adapters ${names.join(' and ')} stand on the parsers of Node.js and of uWebSockets.js (recorded with Node.js: ${nodes.join(', ')}); where they cannot do the same, their verdicts are recorded here.`,
    'Over TLS the native engine passes every case too, and `node-http` does what it does without; `--tls` plays them so. A half-close is close_notify there, with FIN and without. `uwebsockets` has no TLS.',
    'A change of one fails the tests, so that it is seen. `node conformance/wire/dist/src/run.js --adapter <adapter> --record` writes this page.',
    'A canary stands behind every request that must be refused, or after which the connection must close. Where it is answered, a proxy that reads the same octets in another way can be made to pass on a request it has not seen.',
    '',
    `| group | cases | ${names.map((name) => `different on ${name}`).join(' | ')} |`,
    `|---|---:|${names.map(() => '---:|').join('')}`,
    ...groups.map((group) =>
      countRow(
        group,
        cases.filter((one) => one.group === group),
        records,
      ),
    ),
    countRow('all', cases, records),
    `| canaries answered | | ${records.map(([, { verdicts }]) => Object.values(verdicts).filter(({ canary }) => canary).length).join(' | ')} |`,
    '',
    ...records.flatMap(([adapter, recorded]) => section(adapter, recorded, cases)),
  ].join('\n')
}

function countRow(name: string, cases: readonly Case[], records: Records): string {
  const counts = records.map(([, recorded]) => differing(cases, recorded).length)
  return `| ${name} | ${cases.length} | ${counts.join(' | ')} |`
}

function differing(cases: readonly Case[], recorded: RecordedFile): Case[] {
  return cases.filter((one) => recorded.verdicts[one.id]?.fits === false)
}

function section(adapter: RecordedAdapter, recorded: RecordedFile, cases: readonly Case[]): string[] {
  const rows = differing(cases, recorded).map(
    (one) =>
      `| ${one.id} | ${one.ref} | ${cell(expectedSummary(one))} | ${cell(recorded.verdicts[one.id]?.verdict ?? '')} |`,
  )
  const head = [`| case | reference | expected | \`${adapter}\` |`, '|---|---|---|---|']
  return [
    `## Where \`${adapter}\` differs`,
    '',
    ...(rows.length === 0 ? ['Nowhere.'] : [...head, ...rows]),
    '',
  ]
}

function cell(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters would break the row
  return text.replaceAll('|', '\\|').replaceAll(/[\x00-\x1f\x7f]/g, '�')
}
