/** Watch mode: calls a function whenever a source changes, one call after the other. */
import { watch } from 'node:fs'
import { join } from 'node:path'
import { root } from '../command.mjs'

/** Editors write a file in several steps; changes that come closer together are one, in ms. */
const together = 100

/** Runs for ever. */
export async function watchSources(onChange) {
  let changed = nextChange()
  for (const folder of ['packages', 'conformance', 'lab', 'examples', 'crates']) {
    watch(join(root, folder), { recursive: true }, (_, name) => {
      if (name !== null && isSource(name)) changed.resolve()
    })
  }
  for (;;) {
    console.log('\nWaiting for a change; Ctrl+C ends.')
    await changed.promise
    await new Promise((resolve) => setTimeout(resolve, together))
    changed = nextChange()
    await onChange()
  }
}

function isSource(name) {
  return /\.(ts|rs)$/.test(name) && !/(^|\/)(dist|node_modules|target)\//.test(name)
}

function nextChange() {
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
