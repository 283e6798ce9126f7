/** A server that writes forms to the folder it is given; it prints where it listens. */
import { rm } from 'node:fs/promises'
import { createApp } from 'volant'

const folder = process.argv[2] as string
const gibibyte = 2 ** 30
const app = createApp({ adapter: { type: 'native' }, signals: false, limits: { maxFileSize: gibibyte } })
app.post('/save', { bodyMode: 'stream', maxBodySize: gibibyte }, async (ctx) => {
  let size = 0
  for await (const part of ctx.parts()) {
    const file = await part.toFile(folder)
    size += file.size
    await rm(file.path)
  }
  return { size }
})
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(port)
