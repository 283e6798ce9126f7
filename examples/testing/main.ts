/** Serves what notes.ts makes; main.test.ts tests it. */
import { createNotes } from './notes.ts'

const { url } = await createNotes().listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
