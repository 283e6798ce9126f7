import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const pairOf = (reply: Response): string => reply.headers.getSetCookie()[0]?.split(';')[0] ?? ''

test('the group of a visitor stays, and cannot be chosen', async () => {
  const first = await fetch(url)
  const { group } = (await first.json()) as { group: string }
  const cookie = pairOf(first)
  assert.ok(cookie.startsWith(`group=${group}.`), 'a page can read it')
  for (let visit = 0; visit < 10; visit++) {
    assert.deepEqual(await (await fetch(url, { headers: { cookie } })).json(), { group })
  }
  const groups = new Set<string>()
  const forged = cookie.replace(`group=${group}`, 'group=c')
  while (groups.size < 2) groups.add(await (await fetch(url, { headers: { cookie: forged } })).text())
  assert.deepEqual([...groups].toSorted(), ['{"group":"a"}', '{"group":"b"}'])
})

test('an address is kept where only the service can read it', async () => {
  const address = 'Ada Lovelace, 12 St James’s Square'
  const order = (cookie: string) => fetch(`${url}/order`, { method: 'POST', headers: { cookie } })
  assert.equal((await order('')).status, 409)

  const given = await fetch(`${url}/order/address`, { method: 'POST', body: address })
  const cookie = pairOf(given)
  assert.match(cookie, /^address=v1\.[\w.-]+$/)
  const reply = await order(cookie)
  assert.deepEqual(await reply.json(), { sendTo: address })
  assert.match(reply.headers.getSetCookie()[0] ?? '', /^address=; Max-Age=0; Path=\/order/)
  assert.equal((await order(cookie.replace('address=', 'group='))).status, 409)
})
