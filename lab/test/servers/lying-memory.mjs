// Tells a tenth of the memory it has.
import * as make from '../../entries/payloads.mjs'
import { json, ran, serve } from './serve.mjs'

const replies = {
  '/api/health': make.health,
  '/api/users': make.userList,
  '/debug/memory': () => ({ rss: Math.round(make.memory().rss / 10) }),
}

serve((request, response) => {
  const reply = replies[request.url]
  if (reply === undefined) return json(response, 404, {})
  ran()
  json(response, 200, reply())
})
