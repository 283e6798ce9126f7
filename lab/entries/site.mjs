// The folder of the program `files`, written anew for each server: one style sheet of 4 KB, as old as a deployed one.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const site = join(process.env.SCRATCH, 'site')

const rules = Array.from({ length: 128 }, (_, index) => `.column-${index} { margin-left: ${index}px }`)
const changed = new Date('2026-01-15T10:30:00Z')

mkdirSync(site, { recursive: true })
writeFileSync(join(site, 'app.css'), `${rules.join('\n')}\n`)
utimesSync(join(site, 'app.css'), changed, changed)
