/** Starts one process. The environment says where, and with which Redis. */
import { chatOf } from './app.ts'

const { PORT = '3000', HOST, REDIS_URL, REUSE_PORT, HEARTBEAT } = process.env
const { app } = await chatOf({ redis: REDIS_URL, heartbeat: HEARTBEAT ? Number(HEARTBEAT) : undefined })
const { url } = await app.listen({ port: Number(PORT), host: HOST, reusePort: REUSE_PORT === '1' })
console.log(`The chat is at ${url}`)
