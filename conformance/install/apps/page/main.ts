import { ClientError, createClient } from 'volant/client'
import { type Api, routes } from './api'

const client = createClient<Api>('', { routes })

export async function greet(name: string): Promise<string> {
  try {
    const reply = await client.hello({ params: { name } }, { signal: AbortSignal.timeout(1000) })
    if (!reply.ok) return reply.code satisfies 'NOBODY'
    // @ts-expect-error nothing is declared of it
    return reply.data.hello
  } catch (error) {
    return error instanceof ClientError ? String(error.status) : String(error)
  }
}
