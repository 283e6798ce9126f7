// Waits before each reply: its core has nothing to do meanwhile.
import { hello, serve } from './serve.mjs'

serve((request, response) => void setTimeout(() => hello(request, response), 5))
