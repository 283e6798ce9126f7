// Fastify as a worker of pm2 in its cluster mode: it says `ready`, and ends after SIGINT when all is answered, as the
// page "Graceful Start/Shutdown" of pm2 has it.
import { close } from './fastify.mjs'

process.on('SIGINT', () => void close().then(() => process.exit(0)))
process.send?.('ready')
