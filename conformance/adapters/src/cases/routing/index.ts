/** Routes, and the middleware around them. */
import type { Kit } from '../../kit.ts'
import { paths } from './paths.ts'
import { routeMethods } from './methods.ts'
import { middlewareOrder } from './middleware.ts'

export function routing(kit: Kit): void {
  paths(kit)
  routeMethods(kit)
  middlewareOrder(kit)
}
