import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readArguments, text } from '../arguments.ts'
import { Failure } from '../failure.ts'
import { reportPage } from '../report/page.ts'
import { readResults, runFolder } from '../store.ts'
import type { Command } from './command.ts'

export const report: Command = {
  name: 'report',
  about: 'a run as one HTML page, with its charts and the raw data behind them',
  help: `usage: npm run lab -- report RUN [--out FILE]

Writes one self-contained page, report.html in the folder of the run unless told otherwise.

example
  npm run lab -- report core --out report.html`,
  async run(argv) {
    const args = readArguments('report', argv, { out: { type: 'string' } })
    const [name, ...more] = args.positionals
    if (name === undefined || more.length > 0)
      throw new Failure('report takes one run: npm run lab -- report core', 2)
    const page = reportPage(readResults(name))
    const file = text(args, 'out') ?? join(runFolder(name), 'report.html')
    writeFileSync(file, page)
    console.log(file)
    return 0
  },
}
