import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'
import { replies, staticPaths, wrkScript, zapjs } from './zapjs.ts'

export const zapjsStatic: Scenario = {
  ...zapjs,
  name: 'zapjs-static',
  title: 'Static routes',
  about: 'Eight static paths in turn.',
  document: { name: 'zapjs', command: wrkScript('static-route') },
  variants: [
    {
      name: 'default',
      lane: 'plain',
      measure: {
        kind: 'load',
        load: load(
          staticPaths.map((path) => get(path, replies[path] as string)),
          { order: 'rotate' },
        ),
      },
    },
  ],
}
