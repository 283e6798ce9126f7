/** Three ways to take a form: in memory and checked by a schema, to disk as it arrives, and through a stream. */
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createApp } from 'volant'
import * as z from 'zod'

const folder = await mkdtemp(join(tmpdir(), 'uploads-'))
const consumes = 'multipart/form-data'
const gibibyte = 1_073_741_824
const large = { bodyMode: 'stream', maxBodySize: gibibyte, maxFileSize: gibibyte } as const

const Cat = z.object({
  name: z.string().min(1),
  age: z.coerce.number().int(), // the values of a form are text
  photo: z.file().mime(['image/png', 'image/jpeg']),
})

export const app = createApp()

app.post('/cats', { consumes, body: Cat, maxBodySize: 2_000_000 }, ({ body: { name, age, photo } }) => {
  return { name, age, photo: photo.name, bytes: photo.size }
})

app.post('/videos', { consumes, ...large }, async (ctx) => {
  const files: { name: string; path: string; size: number }[] = []
  for await (const part of ctx.parts()) {
    if (part.filename === undefined) continue // a field without a file
    files.push({ name: part.filename, ...(await part.toFile(folder)) })
  }
  return { files } // the form is complete: from here on the files are ours
})

app.post('/hashes', { consumes, ...large }, async (ctx) => {
  const hashes: Record<string, string> = {}
  for await (const part of ctx.parts()) {
    const hash = createHash('sha256')
    await pipeline(part, hash) // or part.stream, for what takes a stream of the web platform
    hashes[part.name] = hash.digest('hex')
  }
  return hashes
})

app.onClose(() => rm(folder, { recursive: true }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
