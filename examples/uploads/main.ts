/** An upload goes to disk as it arrives: at most 256 KiB of it are in memory, however large it is. */
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createApp } from 'volant'

const folder = await mkdtemp(join(tmpdir(), 'uploads-'))
const gibibyte = 1_073_741_824

export const app = createApp()

app.put('/files/:name', { bodyMode: 'stream', maxBodySize: gibibyte }, async (ctx) => {
  const path = join(folder, `${ctx.id}.part`) // never a name that a client chose
  try {
    await pipeline(ctx.bodyStream, createWriteStream(path))
    return { name: ctx.params.name, size: (await stat(path)).size }
  } finally {
    await rm(path, { force: true }) // a real service would keep it
  }
})

app.onClose(() => rm(folder, { recursive: true }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
