/** The app runs on another adapter if it is asked to: `ADAPTER=node-http node dist/main.js`. */
import { type AdapterType, createApp } from 'volant'

const type = process.env.ADAPTER as AdapterType | undefined

export const app = createApp(type === undefined ? {} : { adapter: { type } })

app.get('/', () => `running on ${app.adapterName}`)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url} (${app.adapterName})`)
