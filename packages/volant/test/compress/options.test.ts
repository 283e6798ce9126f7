/** Options of compression that make no sense, alone or together. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type VolantError } from 'volant'
import { compress, type CompressOptions } from 'volant/compress'
import { Kit } from '../kit.ts'

const kit = new Kit()

const long = 'compressible '.repeat(200)

describe('compress', () => {
  test('two encoders for one reply are refused at the start, by their places', async () => {
    const conflict = async (build: (app: ReturnType<Kit['app']>) => void): Promise<string> => {
      const app = kit.app()
      build(app)
      try {
        await app.inject('/')
        return ''
      } catch (error) {
        assert.equal((error as VolantError).code, 'E_MIDDLEWARE_CONFLICT')
        return (error as Error).message
      } finally {
        await app.close()
      }
    }
    const twice = (first: string, second: string): RegExp =>
      new RegExp(`compress\\(\\) of ${first}, and by compress\\(\\) of ${second};`)
    assert.match(await conflict((app) => app.use(compress(), compress())), twice('the app', 'the app'))
    assert.match(
      await conflict((app) => {
        app.use(compress())
        app.group('/api', (api) => void api.use(compress()))
      }),
      twice('the app', 'the scope /api'),
    )
    assert.match(
      await conflict((app) => {
        app.use('/a', compress())
        app.get('/a/:id', compress(), () => long)
      }),
      twice('the app, under /a', 'the route itself'),
    )
    assert.match(
      await conflict((app) => {
        app.with(compress()).get('/x', compress(), () => long)
      }),
      twice(String.raw`a scope of with\(\) or register\(\)`, 'the route itself'),
    )
    assert.match(
      await conflict((app) => {
        const inner = kit.app()
        inner.use(compress())
        inner.get('/x', () => long)
        app.use(compress())
        app.mount('/inner', inner)
      }),
      twice('the app', 'the scope /inner'),
    )
    const apart = await conflict((app) => {
      app.use('/a', compress())
      app.use('/b', compress())
      app.get('/:any/x', () => long)
    })
    assert.equal(apart, '')
  })

  test('options that make no sense are refused by name', () => {
    for (const [options, message] of [
      [null, /compress takes an object of options/],
      [{ encodings: [] }, /compress: encodings takes an array/],
      [
        { encodings: ['deflate'] },
        /compress: encodings takes an array of 'zstd', 'br', 'gzip', each once, not "deflate"/,
      ],
      [{ encodings: ['gzip', 'gzip'] }, /each once/],
      [{ threshold: -1 }, /compress: threshold takes an integer of bytes from 0, not -1/],
      [{ syncThreshold: 1.5 }, /compress: syncThreshold/],
      [{ maxCompressing: '1' }, /compress: maxCompressing/],
      [{ filter: 'text' }, /compress: filter takes a RegExp of media types, or a function/],
      [{ levels: { br: 12 } }, /compress: levels.br takes an integer from 0 to 11, not 12/],
      [{ levels: { zstd: 20 } }, /compress: levels.zstd takes an integer from 1 to 19/],
      [{ levels: { brotli: 4 } }, /compress: levels has no option "brotli"/],
      [{ brotliOptions: {} }, /compress has no option "brotliOptions": levels: \{ br \}/],
    ] as const) {
      assert.throws(() => compress(options as unknown as CompressOptions), { code: 'E_BAD_OPTION', message })
    }
    const app = kit.app()
    // @ts-expect-error -- it is a boolean
    assert.throws(() => app.get('/x', { compress: 'no' }, () => 'x'), {
      code: 'E_BAD_OPTION',
      message: /the route \/x: compress takes true or false/,
    })
    assert.throws(() => app.use(compress as never), {
      code: 'E_BAD_HANDLER',
      message: /write app.use\(compress\(\)\)/,
    })
  })
})
