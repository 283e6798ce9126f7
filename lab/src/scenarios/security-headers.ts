import type { Scenario } from '../scenario.ts'
import { securityFields } from './security-fields.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** Ours: what the header fields cost that OWASP asks for; that the reply is longer by 900 bytes is part of it. */
export const securityHeaders: Scenario = {
  name: 'security-headers',
  title: 'Security headers',
  about: 'GET /headers, with the header fields that OWASP asks for in the reply, and GET /none.',
  document: null,
  program: 'secured',
  headline: 'cpu',
  variants: [
    { name: 'headers', lane: 'plain', measure: { kind: 'load', load: load(get('/headers', hello)) } },
    { name: 'none', lane: 'plain', measure: { kind: 'load', load: load(get('/none', hello)) } },
  ],
  proofs: [
    { path: '/none', status: 200, reply: hello, absent: ['content-security-policy', 'x-frame-options'] },
    { path: '/headers', status: 200, reply: hello, fields: securityFields },
  ],
}
