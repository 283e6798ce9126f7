/** Answers, and ends the process right after in the way the argument says, with the last of COUNT requests. */
import { setImmediate as turn } from 'node:timers/promises'
import { ContentType } from '@volant/engine'
import { createApp } from 'volant'
import { exchangeOf } from './native.ts'

export type Manner = 'sync' | 'async' | 'immediate' | 'tick' | 'stream' | 'by-reference' | 'exit-code'

const [manner, count] = process.argv.slice(2) as [Manner, string]
const app = createApp({ adapter: { type: 'native' }, signals: false })
let left = Number(count)

app.get('/:nonce', async (ctx) => {
  const last = --left === 0
  const { nonce } = ctx.params
  switch (manner) {
    case 'async':
      await turn()
      ctx.json({ nonce })
      if (last) process.exit(7)
      return
    case 'immediate':
      ctx.json({ nonce })
      if (last) setImmediate(() => process.exit(7))
      return
    case 'tick':
      ctx.json({ nonce })
      if (last) process.nextTick(() => process.exit(7))
      return
    case 'stream':
      writeParts(exchangeOf(ctx), ['{"nonce":', JSON.stringify(nonce), '}'])
      if (last) process.exit(7)
      return
    case 'by-reference':
      ctx.bytes(Buffer.from(JSON.stringify({ nonce, filler: 'x'.repeat(40_000) })))
      if (last) process.exit(7)
      return
    case 'exit-code':
      ctx.json({ nonce })
      if (!last) return
      process.exitCode = 7
      void app.close()
      return
    default:
      ctx.json({ nonce })
      if (last) process.exit(7)
  }
})
const { port } = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`port ${port}`)

/** A streamed reply, whole before the handler returns. */
function writeParts(exchange: ReturnType<typeof exchangeOf>, parts: string[]): void {
  exchange.start(200, ContentType.json, null, -1)
  for (const part of parts) exchange.write(part)
  exchange.finish()
}
