/** What visitors of a site with sessions ask for, and how they are answered. */
import { brief, type Client } from '../../src/client.ts'
import { Jar } from '../../src/sessions.ts'

export async function visit(
  client: Client,
  paths: string[],
  jar = new Jar(),
  method = 'GET',
): Promise<unknown[]> {
  const out: unknown[] = []
  for (const path of paths) {
    const reply = await client.ask(path, { method, headers: jar.headers })
    jar.take(reply.cookies)
    const failed = reply.status >= 400
    out.push(failed ? [path, brief(reply), reply.cookies] : [path, reply])
  }
  return out
}
