/** How the cases about middlewares of connect serve an app. */
import type { App } from 'volant'
import type { Kit, Live } from '../../kit.ts'

type Run = (live: Live) => Promise<void>

/** Gives a function that serves the app that `build` fills while `run` runs. */
export function serving(kit: Kit): (build: (app: App) => void, run: Run) => Promise<void> {
  return async (build, run) => {
    const app = kit.app()
    build(app)
    await kit.serve(app, run)
  }
}
