// Every path is the right one.
import { json, ran, serve } from './serve.mjs'

serve((request, response) => {
  ran()
  json(response, 200, { message: 'Hello World' })
})
