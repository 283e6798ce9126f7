// The same id for whoever asks, from the request on that HONEST says.
import { json, ran, record, serve } from './serve.mjs'

const honest = Number(process.env.HONEST ?? 0)
let asked = 0

serve((request, response) => {
  const right = record(request.url)
  if (right === null) return json(response, 404, {})
  ran()
  asked += 1
  json(response, 200, asked > honest ? { ...right, id: 'fixed' } : right)
})
