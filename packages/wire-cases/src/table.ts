import { writeFileSync } from 'node:fs'

import type { Case } from './case.ts'
import type { RecordedFile } from './recorded.ts'
import { expectedSummary } from './verdict.ts'

/** `docs/wire-verdicts.md` of the repository, from the compiled tree. */
const file = new URL('../../../../docs/wire-verdicts.md', import.meta.url)

export function writeTable(cases: readonly Case[], recorded: RecordedFile): void {
  writeFileSync(file, table(cases, recorded))
}

/** The page of verdicts: counts per group, then each case in which the `node-http` adapter is not as expected. */
export function table(cases: readonly Case[], recorded: RecordedFile): string {
  const groups = [...new Set(cases.map((one) => one.group))]
  const differing = cases.filter((one) => recorded.verdicts[one.id]?.fits === false)
  return [
    '# Wire verdicts',
    '',
    `Raw bytes in, verdicts out: ${cases.length} cases from RFC 9110, RFC 9112 and published attacks (\`packages/wire-cases\`).`,
    'The native engine must pass every one, whole, cut in two, and byte by byte. Cases of up to 2,048 bytes are cut at every boundary; the few longer ones near line ends and at 24 more places, and in pieces.',
    `The \`node-http\` adapter stands on the parser of Node.js (here ${recorded.node}); where it cannot do the same, its verdict is recorded here.`,
    'A change of it fails the tests, so that it is seen. `node packages/wire-cases/dist/src/run.js --adapter node-http --record` writes this page.',
    'A canary stands behind every request that must be refused: a second reply is its answer.',
    '',
    '| group | cases | as expected on `node-http` | different |',
    '|---|---:|---:|---:|',
    ...groups.map((group) => groupRow(group, cases, recorded)),
    `| all | ${cases.length} | ${cases.length - differing.length} | ${differing.length} |`,
    '',
    '## Where `node-http` differs',
    '',
    ...(differing.length === 0
      ? ['Nowhere.']
      : [
          '| case | reference | expected | `node-http` |',
          '|---|---|---|---|',
          ...differing.map(
            (one) =>
              `| ${one.id} | ${one.ref} | ${cell(expectedSummary(one))} | ${cell(recorded.verdicts[one.id]?.verdict ?? '')} |`,
          ),
        ]),
    '',
  ].join('\n')
}

function groupRow(group: string, cases: readonly Case[], recorded: RecordedFile): string {
  const own = cases.filter((one) => one.group === group)
  const different = own.filter((one) => recorded.verdicts[one.id]?.fits === false).length
  return `| ${group} | ${own.length} | ${own.length - different} | ${different} |`
}

function cell(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters would break the row
  return text.replaceAll('|', '\\|').replaceAll(/[\x00-\x1f\x7f]/g, '�')
}
