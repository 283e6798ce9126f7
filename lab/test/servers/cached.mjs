// Answers from a cache: the handler runs for the first request of each path only.
import { json, ran, record, serve } from './serve.mjs'

const cache = new Map()

serve((request, response) => {
  const { url } = request
  const known = cache.get(url)
  if (known !== undefined) return json(response, 200, known)
  const right = url === '/json' ? { message: 'Hello World' } : record(url)
  if (right === null) return json(response, 404, {})
  ran()
  cache.set(url, right)
  json(response, 200, right)
})
