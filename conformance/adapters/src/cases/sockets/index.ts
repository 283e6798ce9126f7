/** WebSockets. */
import type { Kit } from '../../kit.ts'
import { messages } from './messages.ts'
import { socketSchemas } from './schemas.ts'
import { hookErrors } from './hook-errors.ts'

export function sockets(kit: Kit): void {
  messages(kit)
  socketSchemas(kit)
  hookErrors(kit)
}
