/** A function makes the app, so that each test has an app with data of its own. */
import { type App, createApp, HTTPError } from 'volant'

export function createNotes(notes = new Map<string, string>()): App {
  const app = createApp()

  app.get('/notes/:id', (ctx) => {
    const text = notes.get(ctx.params.id)
    if (text === undefined) throw new HTTPError(404, 'No such note')
    return { text }
  })
  app.put('/notes/:id', (ctx) => {
    const isNew = !notes.has(ctx.params.id)
    notes.set(ctx.params.id, ctx.bodyText)
    ctx.reply(isNew ? 201 : 204)
  })
  return app
}
