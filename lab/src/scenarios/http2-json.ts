import type { Lane } from '../cell.ts'
import type { Scenario, Transport, Variant } from '../scenario.ts'
import { load } from './load.ts'
import { fileProofs, request } from './tls-json.ts'

const [connections, streams] = [50, 100]

function variant(name: string, transport: Transport, pipelining = 1): Variant {
  const lane: Lane = pipelining === 1 ? 'plain' : 'pipelined'
  return {
    name,
    lane,
    transport,
    measure: { kind: 'load', load: load(request, { connections, pipelining }) },
  }
}

/** Our own scenario: the cost of a request over HTTP/2, beside HTTP/1.1 of the same server. */
export const http2Json: Scenario = {
  name: 'http2-json',
  title: 'JSON by HTTP/2',
  about:
    'GET /hello.json on 50 connections, 100 streams at once on each and one, without TLS and over TLS; the same by HTTP/1.1.',
  document: null,
  program: 'streams',
  headline: 'cpu',
  sweep: true,
  variants: [
    variant('h2c, 100 streams', 'h2c', streams),
    variant('TLS, 100 streams', 'h2', streams),
    variant('HTTP/1.1, 10 pipelined', 'http', 10),
    variant('h2c, 1 stream', 'h2c'),
    variant('TLS, 1 stream', 'h2'),
    variant('HTTP/1.1', 'http'),
    variant('HTTP/1.1 over TLS', 'https'),
  ],
  proofs: fileProofs,
}
