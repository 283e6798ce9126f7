/** Starts the shop. The environment decides where: see settings.ts. */
import { settingsOf } from './settings.ts'
import { shopOf } from './shop.ts'

const app = await shopOf(settingsOf(process.env))
const { url } = await app.listen(Number(process.env.PORT ?? 3000), process.env.HOST)
app.log.info(`The shop is at ${url}, its reference at ${url}/docs`)
