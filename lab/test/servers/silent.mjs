// Does the work of the middleware stack and keeps no request log.
import * as make from '../../entries/payloads.mjs'
import { json, ran, serve } from './serve.mjs'

serve((request, response) => {
  if (request.url !== '/api/users') return json(response, 404, {})
  ran()
  response.setHeader('Access-Control-Allow-Origin', '*')
  json(response, 200, make.stackReply(Math.random().toString(36)))
})
