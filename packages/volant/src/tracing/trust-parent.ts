/** The option `trustParent`: whose traces are continued. */
import { bad } from '../options/bad-option.ts'
import { printLine } from '../report/print-line.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'

/** Gives the decision about a request that carries a trace; null where none is continued. */
export function trustOf(where: string, given: unknown): ((ctx: RequestContext) => boolean) | null {
  if (given === undefined || given === false) return null
  if (given === true) return () => true
  if (typeof given !== 'function') throw bad(`${where}: trustParent`, given, 'true, false or a function')
  const decide = given as (ctx: Context) => boolean
  return (ctx) => decide(ctx as unknown as Context) === true
}

let warned = false

/** Tells once that a caller's trace was not continued, since nobody decided about it. */
export function warnOfTraces(where: string): void {
  if (warned) return
  warned = true
  printLine(
    `volant: ${where}() began a new trace for a request that carries one, since anybody may send traceparent: if your own services do, write ${where}({ trustParent: true }), which continues their traces, and if not, trustParent: false`,
  )
}
