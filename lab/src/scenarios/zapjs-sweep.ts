import type { Request, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'
import { list, post42, user, zapjs } from './zapjs.ts'

const asked: Record<string, Request> = {
  text: get('/', 'Hello, World!'),
  user: get('/api/users/123', user('123')),
  list: get('/api/users', list),
  health: get('/health', '{"status":"ok"}'),
  param: get('/api/users/42', user('42')),
  nested: get('/api/users/42/posts/99', post42),
}
const sweep: Variant[] = Object.entries(asked).flatMap(([name, request]) =>
  [10, 50, 100, 200, 500].map((connections) => ({
    name: `${name}-${connections}`,
    lane: 'plain' as const,
    measure: { kind: 'load' as const, load: load(request, { connections }) },
    long: name !== 'param' || connections % 490 !== 10,
  })),
)

export const zapjsSweep: Scenario = {
  ...zapjs,
  name: 'zapjs-sweep',
  title: 'Connection sweep',
  about: 'Six requests at 10, 50, 100, 200 and 500 connections.',
  document: { name: 'zapjs', command: 'wrk -t 4 -c N -d 15s --latency URL' },
  sweep: true,
  variants: sweep,
}
