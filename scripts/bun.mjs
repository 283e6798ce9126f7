/** Installs the Bun that the lab measures. */

/** Gives the path of Bun, which is installed when it is first needed. The lab must be built. */
export async function bringBun() {
  const { commandOf, entryOf } = await import('../lab/dist/src/entry.js')
  const { installEntry } = await import('../lab/dist/src/install.js')
  const entry = entryOf('bun')
  await installEntry(entry)
  return commandOf(entry)[0]
}
