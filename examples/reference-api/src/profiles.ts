/** What the service can be: its own profile, and one for each benchmark document, with that document's routes. */
import { fileURLToPath } from 'node:url'
import type { App, AppOptions } from 'volant'
import type { ReferenceSettings } from './profiles/reference.ts'

export interface Profile {
  /** One line for `--help`. */
  readonly about: string
  /** Where the document has its server. */
  readonly port: number
  /** Some of its routes ask for the token of the settings. */
  readonly secured?: boolean
  /** What it has in memory and changes, so that only one process can serve it. */
  readonly inMemory?: string
  /** Loads the profile, and makes its app. A supervisor has the table without the profiles. */
  create(options: AppOptions, settings: Settings): Promise<App>
}

/** The reference service uses all settings; the other profiles take those they have a use for. */
export type Settings = ReferenceSettings

export const profiles = {
  reference: {
    about: 'the reference service itself (default)',
    port: 3000,
    secured: true,
    create: async (...given) => (await import('./profiles/reference.ts')).reference(...given),
  },
  ramapi: {
    about: 'RamAPI: JSON, a middleware stack, SQLite',
    port: 3000,
    create: async (...given) => (await import('./profiles/ramapi.ts')).ramapi(...given),
  },
  veloze: {
    about: 'veloze-benchmarks: what it asks of every framework',
    port: 3000,
    create: async (options) => (await import('./profiles/veloze.ts')).veloze(options),
  },
  'veloze-with-middlewares': {
    about: 'veloze-benchmarks, with six middlewares',
    port: 3000,
    create: async (options) => (await import('./profiles/veloze.ts')).velozeWithMiddlewares(options),
  },
  'veloze-big-json': {
    about: 'veloze-benchmarks, 200 records',
    port: 3000,
    create: async (options) => (await import('./profiles/veloze.ts')).velozeBigJson(options),
  },
  zapjs: {
    about: 'ZapJS: static, dynamic and mixed routes',
    port: 3000,
    create: async (options) => (await import('./profiles/zapjs.ts')).zapjs(options),
  },
  nessen: {
    about: 'Nessen Runtime: health, badges, a page',
    port: 3000,
    create: async (...given) => (await import('./profiles/nessen.ts')).nessen(...given),
  },
  veloxts: {
    about: 'VeloxTS: its playground, over REST and tRPC',
    port: 3030,
    secured: true,
    inMemory: 'its users',
    create: async (...given) => (await import('./profiles/veloxts.ts')).veloxts(...given),
  },
} as const satisfies Record<string, Profile>

export type ProfileName = keyof typeof profiles

/** Profiles have a file of their own each, in the folder `data` of this package. */
export function defaultDatabase(name: ProfileName): string {
  return fileURLToPath(new URL(`../../data/${name}.db`, import.meta.url))
}

/** Says which token clients send, where everybody knows it. */
export function tellToken({ secured }: Profile, { API_TOKEN }: NodeJS.ProcessEnv): void {
  if (secured && !API_TOKEN)
    console.log('API_TOKEN is not set: routes that ask for a bearer token take "valid-token"')
}
