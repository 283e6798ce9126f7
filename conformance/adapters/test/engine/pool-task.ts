/** A task of a worker pool: an app is started, answers one request, and is closed. */
import { createApp } from 'volant'

export default async function task(nonce: number): Promise<number> {
  const app = createApp({ adapter: { type: 'native' }, signals: false })
  app.get('/:nonce', async (ctx) => ({ nonce: Number(ctx.params.nonce) }))
  const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/${nonce}`, { headers: { connection: 'close' } })
    return ((await reply.json()) as { nonce: number }).nonce
  } finally {
    await app.close()
  }
}
