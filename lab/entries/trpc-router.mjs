// The router of the programs `trpc` and `playground`, for servers on @trpc/server, which each entry has of its own.
import { healthReply, userInput, userListReply, userReply } from './contracts.mjs'
import { health, userList, userOf } from './payloads.mjs'
import { ran } from './ran.mjs'

export function routerOf(initTRPC) {
  const { router, procedure } = initTRPC.create()
  return router({
    health: router({
      getHealth: procedure.output(healthReply).query(() => {
        ran()
        return health()
      }),
    }),
    users: router({
      listUsers: procedure.output(userListReply).query(() => {
        ran()
        return userList()
      }),
      getUser: procedure
        .input(userInput)
        .output(userReply)
        .query(({ input }) => {
          ran()
          return userOf(input.id)
        }),
    }),
  })
}
