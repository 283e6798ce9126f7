import { initTRPC } from '@trpc/server'
import { createHTTPServer } from '@trpc/server/adapters/standalone'
import { routerOf } from '../trpc-router.mjs'

const server = createHTTPServer({ router: routerOf(initTRPC), basePath: '/trpc/' })
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
