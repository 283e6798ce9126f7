/** What cases about the lines of requests share: an app with `logger()`, and the lines it writes. */
import assert from 'node:assert/strict'
import { HTTPError, logger, type LoggerOptions } from 'volant'
import { eventually, Kit, type Live } from '../kit.ts'

/** A line as a reader of logs sees it. */
export interface Line {
  level: number
  time: number
  pid: number
  hostname: string
  reqId: string
  req: {
    method: string
    url: string
    remoteAddress: string
    headers?: Record<string, string>
    route?: string
  }
  res: { statusCode: number }
  responseTime: number
  err?: { type: string; message: string; stack?: string; code?: string }
  msg: string
  [more: string]: unknown
}

/** Takes lines; each has to be one line of JSON. */
export class Lines {
  readonly texts: string[] = []

  write(text: string): void {
    assert.equal(text.indexOf('\n'), text.length - 1)
    this.texts.push(text)
  }

  get all(): Line[] {
    return this.texts.map((text) => JSON.parse(text) as Line)
  }

  /** The first `count` lines, once they are there. */
  async wait(count: number): Promise<Line[]> {
    await eventually(() => this.texts.length >= count, `${count} lines`)
    return this.all
  }
}

const kit = new Kit()

export const appWith = (options: LoggerOptions = {}) => {
  const lines = new Lines()
  const app = kit.app({ limits: { maxBodySize: 100 } })
  app.use(logger({ ...(options.logger === undefined ? { destination: lines } : {}), ...options }))
  app.get('/x', (ctx) => ctx.text('x'))
  app.get('/users/:id', async (ctx) => ({ id: ctx.params.id }))
  app.get('/teapot', () => {
    throw new HTTPError(418, 'short')
  })
  app.get('/broken', async () => {
    throw Object.assign(new TypeError('it\n"broke"', { cause: new Error('deep') }), { code: 'E_MINE' })
  })
  app.get('/gone', () => {
    throw new HTTPError(503, 'no database')
  })
  return { app, lines }
}

/** Serves, runs, and gives the lines there are then. */
export const logged = async (
  options: LoggerOptions,
  count: number,
  run: (live: Live) => Promise<unknown>,
): Promise<Line[]> => {
  const { app, lines } = appWith(options)
  await kit.serve(app, async (live) => {
    await run(live)
    await lines.wait(count)
  })
  assert.equal(lines.texts.length, count)
  return lines.all
}
