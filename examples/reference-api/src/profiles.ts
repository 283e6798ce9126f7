/** What the service can be: its own profile, and one for each benchmark document, with that document's routes. */
import { fileURLToPath } from 'node:url'
import type { App, AppOptions } from 'volant'
import { nessen } from './profiles/nessen.ts'
import { ramapi } from './profiles/ramapi.ts'
import { reference, type ReferenceSettings } from './profiles/reference.ts'
import { veloxts } from './profiles/veloxts.ts'
import { veloze, velozeBigJson, velozeWithMiddlewares } from './profiles/veloze.ts'
import { zapjs } from './profiles/zapjs.ts'

export interface Profile {
  /** One line for `--help`. */
  readonly about: string
  /** Where the document has its server. */
  readonly port: number
  /** Some of its routes ask for the token of the settings. */
  readonly secured?: boolean
  create(options: AppOptions, settings: Settings): App
}

/** The reference service uses all settings; the other profiles take those they have a use for. */
export type Settings = ReferenceSettings

export const profiles = {
  reference: {
    about: 'the reference service itself (default)',
    port: 3000,
    secured: true,
    create: reference,
  },
  ramapi: { about: 'RamAPI: JSON, a middleware stack, SQLite', port: 3000, create: ramapi },
  veloze: { about: 'veloze-benchmarks: what it asks of every framework', port: 3000, create: veloze },
  'veloze-with-middlewares': {
    about: 'veloze-benchmarks, with six middlewares',
    port: 3000,
    create: velozeWithMiddlewares,
  },
  'veloze-big-json': { about: 'veloze-benchmarks, 200 records', port: 3000, create: velozeBigJson },
  zapjs: { about: 'ZapJS: static, dynamic and mixed routes', port: 3000, create: zapjs },
  nessen: { about: 'Nessen Runtime: health, badges, a page', port: 3000, create: nessen },
  veloxts: {
    about: 'VeloxTS: its playground, over REST and tRPC',
    port: 3030,
    secured: true,
    create: veloxts,
  },
} as const satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles

/** Profiles have a file of their own each, in the folder `data` of this package. */
export function defaultDatabase(name: ProfileName): string {
  return fileURLToPath(new URL(`../../data/${name}.db`, import.meta.url))
}
