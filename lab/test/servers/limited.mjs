// A rate limit: the first requests are answered, the others refused with 429.
import { afterTheCheck, hello, json, ran, serve } from './serve.mjs'

const allowed = Number(process.env.ALLOWED ?? afterTheCheck)
let asked = 0

serve((request, response) => {
  asked += 1
  if (asked <= allowed) return hello(request, response)
  ran()
  json(response, 429, { error: 'Too many requests' })
})
