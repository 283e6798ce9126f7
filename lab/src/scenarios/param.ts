import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

/** Ours: what a parameter costs. The two requests are of the same length, and so are their replies. */
export const param: Scenario = {
  name: 'param',
  title: 'A parameter',
  about: 'GET /hi/Ada, whose parameter is sent back, and GET /static, which has none.',
  document: null,
  program: 'param',
  headline: 'cpu',
  variants: [
    { name: 'static', lane: 'plain', measure: { kind: 'load', load: load(get('/static', '{"hi":"Ada"}')) } },
    { name: 'param', lane: 'plain', measure: { kind: 'load', load: load(get('/hi/Ada', '{"hi":"Ada"}')) } },
  ],
  proofs: [
    { path: '/hi/Ada', status: 200, reply: '{"hi":"Ada"}' },
    { path: '/static', status: 200, reply: '{"hi":"Ada"}' },
    { path: '/hi/Grace%20H', status: 200, reply: '{"hi":"Grace H"}' },
    { path: '/hi', status: 404 },
  ],
}
