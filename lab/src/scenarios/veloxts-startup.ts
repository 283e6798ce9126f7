import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'
import { health, veloxts } from './veloxts.ts'

export const veloxtsStartup: Scenario = {
  ...veloxts,
  name: 'veloxts-startup',
  title: 'Startup',
  about: 'Process to first reply to GET /api/health, tried every ms; the document tries every 100 ms.',
  headline: 'start',
  document: { name: 'veloxts', command: 'pnpm bench:startup' },
  variants: [{ name: 'default', lane: 'no load', measure: { kind: 'startup', load: load(health) } }],
}
