/**
 * Is loaded in a supervisor by `--import`: its clock stands still, and moves on when the test says so by the channel of
 * the process. Its workers keep the clock of the machine.
 */
import { install } from '@sinonjs/fake-timers'

/** `advance` runs the timers that are due in their order. `pause` is time in which the process did not run. */
export interface Move {
  readonly advance?: number
  readonly pause?: number
}

// Workers would get the options of their supervisor.
process.execArgv.splice(process.execArgv.indexOf(import.meta.url) - 1, 2)

const clock = install({
  toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
})

// The listener keeps the process alive, which timers that stand still do not.
process.on('message', async ({ advance = 0, pause = 0 }: Move) => {
  if (pause > 0) clock.jump(pause)
  await clock.tickAsync(advance)
  process.send?.('moved')
})
