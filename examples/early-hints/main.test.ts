import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('the hint comes before the reply', async () => {
  const seen: string[] = []
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(url, { agent: false })
    request.on('information', ({ statusCode, headers }) => seen.push(`${statusCode} ${String(headers.link)}`))
    request.on('response', resolve)
    request.on('error', reject)
  })
  assert.deepEqual(seen, ['103 </style.css>; rel=preload; as=style'])
  assert.equal(reply.statusCode, 200)
  assert.match(Buffer.concat(await reply.toArray()).toString(), /42 rows/)
})
