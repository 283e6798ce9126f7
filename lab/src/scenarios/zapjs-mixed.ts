import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'
import { dynamic, replies, wrkScript, zapjs } from './zapjs.ts'

/** 60 % static, 40 % dynamic. The text of the document also says POST; its script has none. */
export const zapjsMixed: Scenario = {
  ...zapjs,
  name: 'zapjs-mixed',
  title: 'Mixed workload',
  about: '60 % static paths, 40 % dynamic ones.',
  document: { name: 'zapjs', command: wrkScript('mixed-workload') },
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load([
          ...['/', '/health', '/api/status', '/metrics'].map((path) =>
            get(path, replies[path] as string, { weight: 15 }),
          ),
          dynamic('users', 14),
          dynamic('posts', 13),
          dynamic('products', 13),
        ]),
      },
    },
  ],
}
