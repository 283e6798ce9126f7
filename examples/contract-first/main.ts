/** Handlers for routes that are declared elsewhere. A contract without a handler stops the app from starting. */
import { createApp } from 'volant'
import { api } from './api.ts'

const notes: { id: number; text: string }[] = []

export const app = createApp()

app.implement(api, {
  notes: {
    list: () => notes,
    add: (ctx) => {
      const note = { id: notes.length + 1, text: ctx.body.text }
      notes.push(note)
      return ctx.reply(201, note)
    },
  },
})
app.expose(api)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
