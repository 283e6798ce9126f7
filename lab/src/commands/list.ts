import { existsSync, readdirSync } from 'node:fs'
import { readArguments } from '../arguments.ts'
import { readEntries } from '../entry.ts'
import { resultsFolder } from '../folders.ts'
import { documents } from '../scenario.ts'
import { scenarios } from '../scenarios/index.ts'
import { renderTable } from '../table.ts'
import type { Command } from './command.ts'

export const list: Command = {
  name: 'list',
  about: 'scenarios, entries, and the runs that are kept',
  help: 'usage: npm run lab -- list\n\nexample\n  npm run lab -- list',
  async run(argv) {
    readArguments('list', argv, {})
    const entries = readEntries()
    const rows = scenarios.map((scenario) => [
      scenario.name,
      scenario.document === null ? 'ours' : documents[scenario.document.name],
      scenario.variants.length > 4
        ? `${scenario.variants.length} variants`
        : scenario.variants.map(({ name }) => name).join(', '),
      scenario.about,
    ])
    const left = (...titles: string[]) => titles.map((title) => ({ title, align: 'left' as const }))
    print(renderTable(left('scenario', 'document', 'variants', 'about'), rows))
    const served = entries.map((entry) => [
      entry.name,
      entry.version ?? '',
      entry.adapter,
      String(scenarios.filter(({ program }) => entry.programs.includes(program)).length),
      entry.about,
    ])
    print(renderTable(left('entry', 'version', 'adapter', 'scenarios', 'about'), served))
    const kept = existsSync(resultsFolder) ? readdirSync(resultsFolder, { withFileTypes: true }) : []
    const runs = kept.filter((item) => item.isDirectory())
    console.log(`runs: ${runs.map(({ name }) => name).join(' ') || 'none'}`)
    return 0
  },
}

function print(lines: readonly string[]): void {
  for (const line of [...lines, '']) console.log(line)
}
