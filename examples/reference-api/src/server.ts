/**
 * Starts the service. From the environment: `PORT` (default 3000), `HOST` (default all addresses), `DATABASE`
 * (default data/reference.db in this package), `API_TOKEN` (default `valid-token`, for development only).
 */
import { fileURLToPath } from 'node:url'
import { createService } from './app.ts'
import { openDatabase } from './database.ts'

const { PORT = '3000', HOST, DATABASE, API_TOKEN } = process.env
const token = API_TOKEN ?? 'valid-token'

const database = openDatabase(DATABASE ?? fileURLToPath(new URL('../../data/reference.db', import.meta.url)))
const app = createService({ database, token })

process.on('exit', () => database.close())

const { url } = await app.listen(Number(PORT), HOST)
console.log(
  `Listening on ${url} (engine: ${app.adapterName}, ${database.driver}, Node.js ${process.version})`,
)
if (!API_TOKEN) console.log(`API_TOKEN is not set: GET /api/users/:id takes the bearer token "${token}"`)
