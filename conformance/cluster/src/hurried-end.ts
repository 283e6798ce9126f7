/**
 * Is loaded in the workers by `--import`: the thread of the engine that ends a worker without a supervisor has a hundredth
 * of a time that the query of this module names, `follow` or `goOnFor`. What it was asked for is in a file, as
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
  return searchParams.has(name) ? ms / 100 : ms
}

addon.follow = (fd, patience) => follow(fd, timeOf('follow', patience))
addon.goOnFor = (rest) => goOnFor(timeOf('goOnFor', rest))
