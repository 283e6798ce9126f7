/** Libraries that bring a protocol of their own run on `app.ws`: graphql-ws and tRPC, with their own clients. */
import type { Kit } from '../../kit.ts'
import { graphqlOverSockets } from './graphql.ts'
import { trpcOverSockets } from './trpc.ts'

export function wsLibraries(kit: Kit): void {
  graphqlOverSockets(kit)
  trpcOverSockets(kit)
}
