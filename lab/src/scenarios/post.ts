import type { Scenario } from '../scenario.ts'
import { load, post } from './load.ts'

export const postBodies: Scenario = {
  name: 'post',
  title: 'POST of JSON',
  about: 'POST /echo with 1 KB or 64 KB of JSON, which is parsed; its id comes back.',
  document: null,
  program: 'echo',
  headline: 'cpu',
  variants: [1, 64].map((kilobytes) => {
    const { text, items } = body(kilobytes * 1024)
    return {
      name: `${kilobytes} KB`,
      lane: 'plain' as const,
      measure: {
        kind: 'load' as const,
        load: load(post('/echo', text, 200, `{"id":"{nonce}","items":${items}}`), {
          connections: kilobytes > 1 ? 20 : 100,
        }),
      },
    }
  }),
  proofs: [
    {
      method: 'POST',
      path: '/echo',
      headers: { 'content-type': 'application/json' },
      body: '{"id":"a","items":[1,2,3]}',
      status: 200,
      reply: '{"id":"a","items":3}',
    },
  ],
}

/** About so many bytes of JSON, with a nonce that must come back. */
function body(bytes: number): { text: string; items: number } {
  const item = '{"name":"A thing of some length","price":12.5,"tags":["a","b"]}'
  const items = Math.round(bytes / (item.length - 1))
  return { text: `{"id":"{nonce}","items":[${Array(items).fill(item).join(',')}]}`, items }
}
