/** Methods beside those of routes. */
import type { Kit } from '../../kit.ts'
import { additionalMethods } from './additional.ts'
import { traceAndConnect } from './trace-and-connect.ts'

export function methods(kit: Kit): void {
  additionalMethods(kit)
  traceAndConnect(kit)
}
