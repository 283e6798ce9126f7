/** Does in code what the command does. It imports nothing of the app, which the workers run. */
import { fileURLToPath } from 'node:url'
import { supervise } from 'volant/cluster'

const service = supervise({ module: fileURLToPath(new URL('main.js', import.meta.url)), workers: 2 })
process.exitCode = await service.finished
