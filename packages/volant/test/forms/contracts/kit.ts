/** Routes that declare a form, and forms for them. */
import type { App } from 'volant'

export function formOf(values: Record<string, string | File | (string | File)[]>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(values)) {
    for (const each of [value].flat()) form.append(name, each as string)
  }
  return form
}

export async function post(app: App, body: unknown, headers: Record<string, string> = {}) {
  const reply = await app.inject({ method: 'POST', url: '/f', body, headers })
  return [reply.status, reply.json()] as [number, { code?: string; errors?: { pointer: string }[] }]
}

/** Gives the body of the only operation of a document. */
export function bodyIn(paths: object): { content: Record<string, any> } {
  return (paths as { '/f': { post: { requestBody: { content: Record<string, any> } } } })['/f'].post
    .requestBody
}
