/**
 * Is loaded in the workers by `--import`: the times after which the thread of the engine ends a worker without a supervisor
 * are multiplied by what the query of this module says, as `follow=0.01`. What it was asked for is in a file, as
 * `follow 3000`.
 */
import { appendFileSync } from 'node:fs'
import { supervisorAddon } from '@volant/engine/supervisor'

const found = supervisorAddon()
if ('reason' in found) throw new Error(found.reason)
const { addon } = found
const { follow, goOnFor } = addon
const { searchParams } = new URL(import.meta.url)
const timeOf = (name: string, ms: number): number => {
  appendFileSync('last-times', `${name} ${ms}\n`)
  return ms * Number(searchParams.get(name) ?? 1)
}

addon.follow = (fd, patience) => follow(fd, timeOf('follow', patience))
addon.goOnFor = (rest) => goOnFor(timeOf('goOnFor', rest))
