/** Modules that tell what they see of their process. */
import { askOnce, Cluster } from '../../src/index.ts'

/** A module that listens, and tells `what`, an expression, to whoever asks. */
export function telling(what: string, before = ''): string {
  return `
import { createApp } from 'volant'
${before}
const told = ${what}
const app = createApp()
app.get('/', () => told)
await app.listen(0, '127.0.0.1')
`
}

export async function told(cluster: Cluster): Promise<unknown> {
  return JSON.parse((await askOnce(cluster.port)).text)
}
