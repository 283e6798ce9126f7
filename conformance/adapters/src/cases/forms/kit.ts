/** The bytes of forms, and an app that saves them. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { App } from 'volant'
import { eventually, type Kit } from '../../kit.ts'

export const type = 'multipart/form-data; boundary=b'

export const part = (head: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`

export const end = '--b--\r\n'

export const whole =
  part('name="title"', 'a title') +
  part('name="one"; filename="1.txt"', '1'.repeat(200_000)) +
  part('name="two"; filename="2.txt"', '2'.repeat(100_000)) +
  end

/** How many files and sockets this process has open; 0 where the system does not say. */
export function descriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
}

export interface SavedForms {
  /** Where the parts are saved. It is there while the cases of the `describe` run. */
  readonly folder: string
  /** An app whose handlers save the parts of a form, and that tells how each of them ended. */
  saving(options?: Parameters<Kit['app']>[0]): { app: App; begun: () => number; ends: string[] }
  /** Resolves when no file is left, and no descriptor more than there were. */
  nothingLeft(app: App, before: number): Promise<void>
}

export function savedForms(kit: Kit): SavedForms {
  const folder = mkdtempSync(join(tmpdir(), 'volant-forms-'))
  after(() => rmSync(folder, { recursive: true }))
  return {
    folder,
    saving(options = {}) {
      const app = kit.app(options)
      const ends: string[] = []
      let begun = 0
      app.post('/save', { bodyMode: 'stream', maxBodySize: 2 ** 30 }, async (ctx) => {
        begun++
        const sizes: number[] = []
        try {
          for await (const each of ctx.parts()) sizes.push((await each.toFile(folder)).size)
          ends.push('complete')
        } catch (error) {
          ends.push(String((error as { code?: string }).code))
          throw error
        }
        return sizes
      })
      return { app, begun: () => begun, ends }
    },
    async nothingLeft(app, before) {
      await eventually(
        () => app.stats().inFlight === 0 && app.stats().connections === 0,
        'no request is left',
      )
      await eventually(() => readdirSync(folder).length === 0, 'no file is left')
      await eventually(() => descriptors() <= before, 'no descriptor is left')
    },
  }
}
