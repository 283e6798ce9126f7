import { names, readArguments } from '../arguments.ts'
import { barLines } from '../bar-table.ts'
import { Failure } from '../failure.ts'
import { markdownLines, rewriteDocuments } from '../markdown-tables.ts'
import { scenarioOf } from '../scenario.ts'
import { readResults } from '../store.ts'
import { styleFor } from '../style.ts'
import { targetLines } from '../targets.ts'
import { resultLines } from '../terminal-tables.ts'
import type { Command } from './command.ts'

const help = `usage: npm run lab -- table RUN      the tables of a run of lab/results, or of a folder
       npm run lab -- table --write  writes the tables of the committed runs into README.md and lab/
       npm run lab -- table --check  exit code 1 when they are not those of the committed runs

  --scenarios A,B   only these
  --markdown        for a document

examples
  npm run lab -- table core
  npm run lab -- table core --scenarios ramapi-json --markdown`

export const table: Command = {
  name: 'table',
  about: 'the tables of a run, for the terminal or as Markdown',
  help,
  async run(argv) {
    const args = readArguments('table', argv, {
      scenarios: { type: 'string' },
      markdown: { type: 'boolean' },
      write: { type: 'boolean' },
      check: { type: 'boolean' },
    })
    const { write, check, markdown } = args.values
    if (write === true || check === true) return rewriteDocuments(check === true)
    const [name, ...more] = args.positionals
    if (name === undefined || more.length > 0)
      throw new Failure('table takes one run: npm run lab -- table core', 2)
    const results = readResults(name)
    const only = names(args, 'scenarios')
    for (const scenario of only ?? []) scenarioOf(scenario)
    const style = styleFor(process.stdout.isTTY === true)
    const lines =
      markdown === true
        ? markdownLines(results, only)
        : [
            ...resultLines(results, style, only),
            ...barLines(results.cells, results.run.settings.rounds, style),
            ...targetLines(results, style),
          ]
    for (const line of lines) console.log(line)
    return 0
  },
}
