/** The app that the cases close, and what they ask it for. */
import type { App } from 'volant'
import { type Kit, Live, request } from '../../kit.ts'

/** Long enough that no case waits for it; a close that does fails. */
export const long = 60_000

export const get = request('GET', '/x')

interface Limits {
  drainIdle?: number
  drainTimeout?: number
  shutdownTimeout?: number
}

/** Gives a function that makes apps. They wait long for what drains. */
export function appsOf(kit: Kit): (limits: Limits) => App {
  return (limits) => {
    const app = kit.app({ limits: { shutdownTimeout: long, ...limits } })
    app.get('/x', () => 'x')
    return app
  }
}

export async function serve(app: App): Promise<Live> {
  return new Live(app, await app.listen(0, '127.0.0.1'))
}
