/** What clients may write into log lines. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type LoggerOptions } from 'volant'
import { Kit } from '../kit.ts'
import { appWith, type Line, logged } from './kit.ts'

const kit = new Kit()

describe('logger', () => {
  test('nothing a client sends gets out of its string', async () => {
    const urls = [
      '/x?a="}}\\',
      "/x?a=%0A{'level':60}",
      '/x?__proto__=1',
      `/none/${encodeURIComponent('"\n\u2028\u{1f600}')}`,
    ]
    const agents = ['a"b\\c', 'a\tb', 'a\x80\x9b31mred\x9f', 'caf\xe9', '","level":60,"x":"']
    const { app, lines } = appWith({ headers: ['User-Agent', '__proto__', 'x-none'] })
    app.get('/agent', (ctx) => ({ agent: ctx.headers['user-agent'] }))
    const seen: unknown[] = []
    await kit.serve(app, async (live) => {
      for (const url of urls) await live.ask(url)
      for (const agent of agents) {
        const reply = await live.ask('/agent', { headers: { 'user-agent': agent } })
        seen.push((reply.json() as { agent: string }).agent)
      }
      await lines.wait(urls.length + agents.length)
    })
    for (const [at, url] of urls.entries()) assert.equal(lines.all[at]?.req.url, url)
    for (const [at, agent] of seen.entries()) {
      const line = lines.all[urls.length + at] as Line
      assert.deepEqual(line.req.headers, { 'user-agent': agent })
      assert.equal(line.level, 30)
    }
  })

  test('no control character reaches whoever reads the file', async () => {
    const { app, lines } = appWith({
      headers: ['x-a'],
      props: () => ({ a: '\x9b\u2029\x7f', ['\x85']: 1 }),
    })
    app.get('/error', () => {
      throw new Error('\x1b[31m\x9b\r\n')
    })
    await kit.serve(app, async (live) => {
      await live.ask('/error', { headers: { 'x-a': '\x9b\x84' } })
      await lines.wait(1)
    })
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    assert.doesNotMatch(lines.texts.join('').slice(0, -1), /[\x00-\x1f\x7f-\x9f\u2028\u2029]/)
    assert.equal(lines.all[0]?.err?.message, '\x1b[31m\x9b\r\n')
    assert.equal(lines.all[0]?.['a'], '\x9b\u2029\x7f')
  })

  test('secrets are kept out', async () => {
    const headers = ['authorization', 'cookie', 'x-key', 'x-open']
    const sent = {
      authorization: 'Bearer s3cret',
      cookie: 'sid=s3cret',
      'x-key': 's3cret',
      'x-open': 'yes',
    }
    const options: LoggerOptions = {
      headers,
      redact: ['req.headers["X-Key"]', 'req.query.token', "req.query['a b']", 'req.remoteAddress'],
    }
    const url = '/x?token=s3cret&tok%65n=s3cret&a+b=s3cret&a%20b=s3cret&tokens=1&token&token='
    const { app, lines } = appWith(options)
    await kit.serve(app, async (live) => {
      await live.ask(url, { headers: sent })
      await lines.wait(1)
    })
    const [line] = lines.all as [Line]
    assert.doesNotMatch(lines.texts.join(''), /s3cret/)
    assert.deepEqual(line.req.headers, {
      authorization: '[Redacted]',
      cookie: '[Redacted]',
      'x-key': '[Redacted]',
      'x-open': 'yes',
    })
    assert.equal(
      line.req.url,
      '/x?token=[Redacted]&tok%65n=[Redacted]&a+b=[Redacted]&a%20b=[Redacted]&tokens=1&token&token=[Redacted]',
    )
    assert.equal(line.req.remoteAddress, '[Redacted]')
    const open = await logged({ headers, redact: false }, 1, (live) => live.ask('/x', { headers: sent }))
    assert.equal(open[0]?.req.headers?.['authorization'], 'Bearer s3cret')
  })
})
