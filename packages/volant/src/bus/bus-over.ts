/** A bus over whatever carries bytes. */
import { bad } from '../options/bad-option.ts'
import { checkNames } from '../options/checks.ts'
import type { Bus } from '../types/bus.ts'
import { type BusOptions, busOptionNames, planBus } from './options.ts'
import type { BusWire } from './wire.ts'
import { WiredBus } from './wired-bus.ts'

/**
 * Makes a bus over a wire of your own, such as another broker or a channel between processes: the wire passes bytes on,
 * and the bus adds order, gaps, repetitions and limits to it. Throws `E_BAD_OPTION`.
 */
export function busOver(wire: BusWire, options: BusOptions = {}): Bus {
  for (const name of ['open', 'publish', 'subscribe', 'unsubscribe', 'close'] as const) {
    if (typeof wire?.[name] !== 'function') throw bad('busOver', wire, `a wire, which has ${name}()`)
  }
  checkNames('busOver', options, busOptionNames)
  return new WiredBus(wire, planBus('busOver', options))
}
