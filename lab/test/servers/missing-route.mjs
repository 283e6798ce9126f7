// Nothing is found.
import { json, serve } from './serve.mjs'

serve((request, response) => json(response, 404, { error: 'Not found' }))
