/** The routes are declared elsewhere and get their handlers here. If one is missing, the app does not start. */
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
