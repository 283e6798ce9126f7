/**
 * Runs `fetch` of Node.js in a process of its own, since Node.js reads the authority to trust at start
 * (`NODE_EXTRA_CA_CERTS`). It asks the given site, and writes the result as one line of JSON.
 */
const [url = '', bytes = '0'] = process.argv.slice(2)
const body = Buffer.alloc(Number(bytes), 'fetched')

const json: unknown = await (await fetch(`${url}/json`)).json()

const echo = await fetch(`${url}/echo`, { method: 'POST', body })
const same = body.equals(Buffer.from(await echo.arrayBuffer()))

const source = new ReadableStream<Uint8Array>({
  start(controller) {
    for (let at = 0; at < body.length; at += 65_536) controller.enqueue(body.subarray(at, at + 65_536))
    controller.close()
  },
})
const streamed = await fetch(`${url}/echo-stream`, {
  method: 'POST',
  body: source,
  duplex: 'half',
} as RequestInit)
const sameStreamed = body.equals(Buffer.from(await streamed.arrayBuffer()))

const parts: string[] = []
for await (const part of (await fetch(`${url}/parts/fetch`)).body as ReadableStream<Uint8Array>) {
  parts.push(Buffer.from(part).toString())
  if (parts.length === 1) await fetch(`${url}/parts/fetch/next`)
}

const statuses = await Promise.all(
  Array.from({ length: 100 }, async (_, at) => {
    const reply = await fetch(at % 4 === 0 ? `${url}/status/404` : `${url}/json`)
    await reply.arrayBuffer()
    return reply.status
  }),
)

const cancel = new AbortController()
const given = fetch(`${url}/hang/fetch`, { signal: cancel.signal }).catch((error: Error) => error.name)
await fetch(`${url}/waits/fetch`)
cancel.abort()

const count = (status: number): number => statuses.filter((each) => each === status).length
console.log(
  JSON.stringify({
    json,
    same,
    sameStreamed,
    parts,
    ok: count(200),
    missing: count(404),
    given: await given,
  }),
)
