/** A folder of files is served: the pages of a single-page app, and assets whose names have a hash of their content. */
import { createApp } from 'volant'

const root = `${import.meta.dirname}/../site` // beside dist, where this file is compiled to

export const app = createApp()

app.get('/api/users', () => [{ id: 1, name: 'Ada' }])
app.static('/assets', `${root}/assets`, { immutable: true, precompressed: true })
app.static('/', root, { fallback: 'index.html' })

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
