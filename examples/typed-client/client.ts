/** This calls the API of main.ts and imports only its type. */
import { createClient } from 'volant/client'
import type { api } from './main.ts'

export const clientOf = (url: string, token: () => string | undefined) =>
  createClient<typeof api>(url, {
    headers: () => ({ authorization: token() }),
    timeout: 5_000,
    retry: 2,
  })

type Client = ReturnType<typeof clientOf>

/** Every reply that was declared is a result; `ok`, `status` and `code` tell them apart. */
export async function describe(client: Client, id: number): Promise<string> {
  const reply = await client.users.get({ params: { id } })
  // In the type, too, a date is what JSON makes of it.
  if (reply.ok) return `${reply.data.name}, born ${reply.data.born.slice(0, 10)}`
  if (reply.code === 'USER_NOT_FOUND') return `there is no user ${reply.data.id}`
  return reply.issues.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('\n')
}

export async function add(client: Client, name: string): Promise<number | string> {
  const reply = await client.users.add({ body: { name } })
  return reply.ok ? reply.data.id : reply.code
}

/** A streamed reply is a `ReadableStream`; `signal` ends it on both sides. */
export async function countdown(client: Client, from: number, signal?: AbortSignal): Promise<string> {
  const { data } = await client.countdown({ params: { from } }, { signal })
  let text = ''
  for await (const part of data.pipeThrough(new TextDecoderStream())) text += part
  return text
}
