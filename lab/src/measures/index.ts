/** A measurement of any kind. Nothing escapes: what goes wrong is in the finding. */
import { Failure } from '../failure.ts'
import { measureLoad } from './load.ts'
import { type Assignment, Broken, Disqualified, type Finding } from './measurement.ts'
import { measureMemory, measureSoak } from './memory.ts'
import { measureCurve, measureHighest, measureOverload, measureSteady } from './open-loop.ts'
import { measureEcho, measureHeld, measurePublish } from './sockets.ts'
import { measureStartup } from './startup.ts'

const measures = {
  load: measureLoad,
  startup: measureStartup,
  memory: measureMemory,
  soak: measureSoak,
  curve: measureCurve,
  highest: measureHighest,
  overload: measureOverload,
  steady: measureSteady,
  echo: measureEcho,
  publish: measurePublish,
  held: measureHeld,
}

/** Throws only a `Failure` of exit code 2: the command line or the machine is wrong, and no cell can be measured. */
export async function measure(assignment: Assignment): Promise<Finding> {
  try {
    return await measures[assignment.variant.measure.kind](assignment)
  } catch (error) {
    if (error instanceof Failure && error.exitCode === 2) throw error
    const status = error instanceof Disqualified ? 'disqualified' : 'failed'
    const commands = error instanceof Disqualified || error instanceof Broken ? error.commands : []
    return { status, reason: (error as Error).message, metrics: {}, flags: [], commands }
  }
}
