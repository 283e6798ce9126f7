/** `volant dev` runs an app, and another version of it after each change. */
import { relative } from 'node:path'
import { printLine } from '../report/print-line.ts'
import { readArguments } from './arguments.ts'
import { Sources } from './sources.ts'
import { supervisorOf } from './supervise.ts'
import type { Renewal, Supervisor } from './supervisor.ts'
import { TypeCheck } from './type-check.ts'
import { type SourceChange, SourceWatch } from './watch.ts'

const options = {
  watch: { type: 'string', multiple: true },
  ignore: { type: 'string', multiple: true },
  'no-types': { type: 'boolean' },
} as const

/** Gives the exit code, once the app has ended. */
export async function dev(args: string[], usage: string): Promise<number> {
  try {
    const read = readArguments('dev', args, options, usage)
    if (read === null) return 1
    const { values, module } = read
    const supervisor = supervisorOf({ module, workers: 1, args: read.args }, true)
    const { folder } = supervisor.plan
    const sources = new Sources(folder, module, values.watch ?? [], values.ignore ?? [])
    const types = values['no-types'] === true || sources.isCompiled ? null : TypeCheck.of(sources.project)
    return await new Development(supervisor, sources, types).run()
  } catch (error) {
    printLine(`volant: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}

class Development {
  readonly #supervisor: Supervisor
  readonly #sources: Sources
  readonly #types: TypeCheck | null
  /** What the version that starts was started for; null for the first one, and where nothing changed. */
  #changes: readonly SourceChange[] | null = null
  #hasServed = false

  constructor(supervisor: Supervisor, sources: Sources, types: TypeCheck | null) {
    this.#supervisor = supervisor
    this.#sources = sources
    this.#types = types
    supervisor.onServing = (addresses) => {
      const where = this.#sources.roots.map((root) => this.#shown(root)).join(' and ')
      printLine(`volant: listening on ${addresses.join(' and ')}; a change in ${where} restarts it`, 'stdout')
    }
    supervisor.onRenewal = (renewal) => this.#tell(renewal)
    supervisor.onEnd = ({ ending }) =>
      printLine(`volant: the app has ended, with ${ending}: the next change starts it anew`)
  }

  async run(): Promise<number> {
    this.#supervisor.start()
    const watch = new SourceWatch(this.#sources, (changes) => {
      this.#changes = changes
      this.#types?.end()
      void this.#supervisor.renew('change')
    })
    const code = await this.#supervisor.finished
    watch.close()
    this.#types?.end()
    return code
  }

  #tell({ serves, worker, old }: Renewal): void {
    const changes = this.#changes
    this.#changes = null
    if (!serves) {
      const what = this.#hasServed ? 'the new version' : 'the app'
      const stays = old === null ? '' : ' the old one serves on;'
      return printLine(
        `volant: ${what} did not start, and has ended with ${worker.ending}:${stays} the next change starts it anew`,
      )
    }
    // The error of a version that does not start has been shown by itself; types would show some again.
    this.#types?.run()
    const isFirst = !this.#hasServed
    this.#hasServed = true
    if (isFirst) return
    const served = performance.now()
    const begun = changes === null ? worker.startedAt : toMonotonic(latest(changes))
    const time = Math.round(served - begun)
    const what = changes === null ? '' : `${this.#nameAll(changes)} changed: `
    if (old === null) return printLine(`volant: ${what}started in ${time} ms`, 'stdout')
    void old.over.then(() => {
      const rest = Math.round(performance.now() - served)
      const end = old.killedFor === null ? 'ended' : 'was killed'
      printLine(`volant: ${what}restarted in ${time} ms; the old version ${end} ${rest} ms later`, 'stdout')
    })
  }

  #nameAll([first, ...others]: readonly SourceChange[]): string {
    const name = this.#shown((first as SourceChange).path)
    if (others.length === 0) return name
    return `${name} and ${others.length === 1 ? 'another file' : `${others.length} other files`}`
  }

  #shown(path: string): string {
    const short = relative(process.cwd(), path)
    return short === '' ? 'this folder' : short.startsWith('..') ? path : short
  }
}

function latest(changes: readonly SourceChange[]): number {
  return Math.max(...changes.map(({ at }) => at))
}

/** Gives a time of `Date.now()` as `performance.now()` counts. */
function toMonotonic(time: number): number {
  return performance.now() - (Date.now() - time)
}
