/** The app that the cases close, and what they ask it for. */
import type { App } from 'volant'
import { type Kit, Live, request } from '../../kit.ts'

/** Longer than any case waits on any machine, in ms (`Patience`): a close that takes this long fails. */
export const long = 600_000

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
