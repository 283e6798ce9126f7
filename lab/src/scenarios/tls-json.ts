import type { Scenario, Transport, Variant } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** The path ends in .json because nghttpd, which serves a file, takes the content type from the end of the name. */
export const request = get('/hello.json', hello)
export const fileProofs = [{ path: '/hello.json', status: 200, reply: hello }]

function variant(name: string, transport: Transport): Variant {
  return {
    name,
    lane: 'plain',
    transport,
    measure: { kind: 'load', load: load(request, { connections: 50 }) },
  }
}

/** Our own scenario: what TLS adds to a request on a kept connection. */
export const tlsJson: Scenario = {
  name: 'tls-json',
  title: 'JSON over TLS',
  about: 'GET /hello.json by HTTP/1.1 on 50 connections kept alive, without TLS and over TLS 1.3.',
  document: null,
  program: 'secure',
  headline: 'cpu',
  sweep: true,
  variants: [variant('plain', 'http'), variant('tls', 'https')],
  proofs: fileProofs,
}
