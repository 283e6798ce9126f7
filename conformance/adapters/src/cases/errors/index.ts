/** What may go wrong in handlers and middleware: each kind of mistake has its case. */
import type { Kit } from '../../kit.ts'
import { problemsOfErrors } from './problems.ts'
import { errorHandlers } from './error-handlers.ts'
import { errorsOfMiddleware } from './middleware.ts'
import { errorsOfValues } from './values.ts'
import { errorsAfterReplies } from './after-reply.ts'

export function errors(kit: Kit): void {
  problemsOfErrors(kit)
  errorHandlers(kit)
  errorsOfMiddleware(kit)
  errorsOfValues(kit)
  errorsAfterReplies(kit)
}
