import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

export const slowHandlers: Scenario = {
  name: 'slow',
  title: '1 % slow handlers',
  about: 'GET /work/<id>: one in 100 waits 50 ms; p95 shows whether the others wait with it.',
  document: null,
  program: 'slow',
  headline: 'p95',
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: { kind: 'load', load: load(get('/work/{0..99999}', '{"id":"{#1}"}')) },
    },
  ],
  proofs: [
    { path: '/work/7', status: 200, reply: '{"id":"7"}' },
    { path: '/work/100', status: 200, reply: '{"id":"100"}' },
  ],
}
