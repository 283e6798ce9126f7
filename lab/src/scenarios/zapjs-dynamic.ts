import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'
import { dynamic, wrkScript, zapjs } from './zapjs.ts'

export const zapjsDynamic: Scenario = {
  ...zapjs,
  name: 'zapjs-dynamic',
  title: 'Dynamic routes',
  about: 'Five kinds of record, an id from 1 to 1,000 each; the id must come back.',
  document: { name: 'zapjs', command: wrkScript('dynamic-route') },
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load(['users', 'posts', 'products', 'orders', 'comments'].map((kind) => dynamic(kind))),
      },
    },
  ],
}
