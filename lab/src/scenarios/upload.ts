import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'

const boundary = 'a-boundary-that-no-photograph-has'
const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
const megabytes = 10
const bytes = megabytes * 1024 * 1024

/** A form of a title and a file. */
function form(title: string, content: string): string {
  const part = (field: string): string => `--${boundary}\r\nContent-Disposition: form-data; name="${field}"`
  return [
    `${part('title')}\r\n\r\n${title}`,
    `${part('file')}; filename="photo.raw"\r\nContent-Type: application/octet-stream\r\n\r\n${content}`,
    `--${boundary}--\r\n`,
  ].join('\r\n')
}

function reply(id: string, title: string, count: number): string {
  return `{"id":"${id}","title":"${title}","name":"photo.raw","bytes":${count}}`
}

/** Ours: a large file in a form, whose bytes are counted and given up. */
export const upload: Scenario = {
  name: 'upload',
  title: 'An upload of 10 MB',
  about: `POST /uploads/7 of a form with a title and a file of ${megabytes} MiB, which is streamed to a sink that counts its bytes.`,
  document: null,
  program: 'uploads',
  headline: 'cpu',
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load(
          {
            weight: 1,
            method: 'POST',
            path: '/uploads/{1..9999}',
            headers,
            body: form('A photograph', `{bytes-${bytes}}`),
            expect: { status: 200, body: reply('{#1}', 'A photograph', bytes), length: null, contains: null },
          },
          { connections: 4 },
        ),
      },
    },
  ],
  compared: 20,
  proofs: [
    {
      method: 'POST',
      path: '/uploads/a',
      headers,
      body: form('Short', 'some bytes'),
      status: 200,
      reply: reply('a', 'Short', 10),
    },
    {
      method: 'POST',
      path: '/uploads/c',
      headers: { 'content-type': 'text/plain' },
      body: 'no form',
      status: [400, 406, 415],
    },
  ],
}
