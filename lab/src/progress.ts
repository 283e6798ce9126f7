/** What is running, what is left, and how long that takes. */
import type { Cell } from './cell.ts'
import type { Method } from './measures/measurement.ts'
import type { Task } from './schedule.ts'

export interface Progress {
  begin(left: readonly Task[], all: number): void
  next(task: Task): void
  /** It need not be measured after all. */
  skip(task: Task): void
  done(cell: Cell): void
  end(): void
}

/** A process is started, asked and stopped, s. */
const around = 0.4
/** Its replies are checked first, once for each entry and scenario, s. */
const check = 0.6
/** Between two lines where no terminal overwrites them, ms. */
const quiet = 15_000

/** What a task takes, s. */
export function secondsOf({ variant, round }: Task, method: Method): number {
  const { measure } = variant
  const window = method.windowAsked ? method.window : (measure.load.window ?? method.window)
  const warmup = method.warmup ?? (method.quick ? Math.min(measure.load.warmup, 0.5) : measure.load.warmup)
  const step = (method.quick ? Math.min(0.5, window) : window) + (method.quick ? 0.15 : 0.4)
  const times: Record<typeof measure.kind, () => number> = {
    load: () => warmup + window,
    startup: () => (method.quick ? 0.3 : 1.2),
    memory: () => (measure.kind !== 'memory' ? 0 : 1 + (method.quick ? 2 : measure.seconds + measure.rest)),
    soak: () => (measure.kind !== 'soak' ? 0 : (method.soak ?? (method.quick ? 3 : measure.seconds))),
    curve: () =>
      warmup + window + (measure.kind === 'curve' && !method.quick ? measure.shares.length : 2) * step,
    highest: () => warmup + window + (method.quick ? 3 : 6) * step,
    steady: () => warmup + window,
    overload: () => warmup + window + step,
    echo: () => warmup + window,
    publish: () => warmup + window,
    // Of 10,000 sockets, for whatever window.
    held: () => 5 + window,
  }
  return around + times[measure.kind]() + (round === 0 ? check : 0)
}

export function secondsOfAll(tasks: readonly Task[], method: Method): number {
  return tasks.reduce((sum, task) => sum + secondsOf(task, method), 0)
}

/** `38 min`, `50 s`, `1 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** On stderr; on a terminal one line that is overwritten, else one every 15 s. Cells that failed always have a line. */
export function terminalProgress(method: Method, stream: NodeJS.WriteStream = process.stderr): Progress {
  let all = 0
  let finished = 0
  let planned = 0
  let planDone = 0
  let spent = 0
  let current = 0
  let began = 0
  let printed = 0
  const show = (text: string): void => {
    if (stream.isTTY) stream.write(`\r\u001b[K${text}`)
    else if (performance.now() - printed > quiet) {
      printed = performance.now()
      stream.write(`${text}\n`)
    }
  }
  return {
    begin(left, total) {
      all = total
      finished = total - left.length
      planned = secondsOfAll(left, method)
      const before = finished > 0 ? `, ${finished} of them done before` : ''
      stream.write(`${total} cells${before}; about ${duration(planned)}\n`)
    },
    next(task) {
      began = performance.now()
      current = secondsOf(task, method)
      // What was planned is stretched by what the cells so far took beyond their plan.
      const stretch = planDone > 20 ? spent / planDone : 1
      const left = (planned - planDone) * stretch
      const { scenario, variant, label, round } = task
      const what = `${scenario.name}${variant.name === 'default' ? '' : ` ${variant.name}`}, ${label}`
      show(`[${finished + 1}/${all}] round ${round + 1}: ${what}; ${duration(left)} left`)
    },
    skip(task) {
      finished += 1
      planned -= secondsOf(task, method)
    },
    done(cell) {
      finished += 1
      planDone += current
      spent += (performance.now() - began) / 1e3
      if (cell.status === 'measured') return
      const clear = stream.isTTY ? '\r\u001b[K' : ''
      const where = `${cell.scenario}${cell.variant === 'default' ? '' : ` ${cell.variant}`}`
      stream.write(`${clear}${cell.entry}, ${where}: ${cell.status}: ${cell.reason ?? ''}\n`)
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[K')
    },
  }
}
