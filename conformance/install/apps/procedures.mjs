import { createApp, HTTPError } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import * as z from 'zod'

const app = createApp()
const hello = router({
  getHello: procedure()
    .rest({ path: '/hello/:name' })
    .input(z.object({ name: z.string() }))
    .query(({ input }) => {
      if (input.name === 'nobody') throw new HTTPError(404, 'nobody is there')
      return { hello: input.name }
    }),
})
app.register(rest(hello))
app.register(trpc(hello))

const { url } = await app.listen(0)
console.log(`${app.adapterName} ${url}`)
