/** Clients that mean harm, and their neighbour. */
import assert from 'node:assert/strict'
import type { App } from 'volant'
import type { Kit, Live } from '../../kit.ts'
import { Peer } from '../../peer.ts'

/** An app that sends back what it gets, and counts. */
export class Echo {
  readonly kit: Kit
  readonly app: App
  messages = 0
  readonly ends: number[] = []

  constructor(kit: Kit, limits: object = {}, route: object = {}) {
    this.kit = kit
    this.app = kit.app({ limits })
    this.app.ws('/', {
      ...route,
      message: (ws, message) => {
        this.messages++
        ws.send(message)
      },
      close: (_, code) => void this.ends.push(code),
    })
  }

  /** Has `run` attack, with a neighbour that has to be answered before, meanwhile (by `alive`) and after. */
  async under(run: (live: Live, alive: () => Promise<void>) => Promise<void>): Promise<void> {
    const { kit } = this
    await kit.serve(this.app, async (live) => {
      kit.reports.length = 0
      const neighbour = await Peer.open(live, '/')
      let asked = 0
      const alive = async (): Promise<void> => {
        const text = `${asked++}`
        this.messages--
        assert.equal(await neighbour.send(text).text(), text)
      }
      await alive()
      await run(live, alive)
      await alive()
      assert.deepEqual(kit.reports, [])
    })
  }
}
