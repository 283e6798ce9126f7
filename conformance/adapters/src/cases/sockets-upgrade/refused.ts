/** How a request becomes a WebSocket, and what refuses it. */
import assert from 'node:assert/strict'
import { type Kit, request } from '../../kit.ts'
import { handshake } from '../../peer.ts'
import type { WireReply } from '../../wire.ts'

/** Asks for a WebSocket, checks that the reply refuses it and that the connection goes on, and gives the reply. */
export async function refused(
  kit: Kit,
  app: ReturnType<Kit['app']>,
  path: string,
  headers: Record<string, string | undefined> = {},
): Promise<WireReply> {
  let reply: WireReply | undefined
  app.get('/after', () => 'after')
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    const fields = Object.entries({ ...handshake, ...headers }).filter(([, value]) => value !== undefined)
    wire.send(request('GET', path, Object.fromEntries(fields) as Record<string, string>))
    reply = await wire.reply()
    wire.send(request('GET', '/after'))
    assert.equal((await wire.reply()).text, 'after')
    assert.equal(app.stats().sockets, 0)
  })
  return reply as WireReply
}

export const codeOf = (reply: WireReply): unknown => (reply.json() as { code: unknown }).code
