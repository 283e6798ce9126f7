import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { csp, type CspDirectives, type CspOptions, securityHeaders, type VolantError } from 'volant'
import { badDirectives } from '../csp-rows.ts'
import { Kit } from '../kit.ts'
import { usual } from './usual.ts'

const kit = new Kit()

describe('csp', () => {
  test('a nonce is new for every request, and the same in its policy and its page', async () => {
    const app = kit.app()
    const headers = securityHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'nonce'", "'strict-dynamic'"],
        styleSrc: ["'nonce'"],
      },
    })
    app.with(headers).get('/page', (ctx) => {
      const nonce: string = ctx.state.nonce
      return ctx.html(nonce)
    })
    await kit.serve(app, async (live) => {
      const seen = new Set<string>()
      for (let time = 0; time < 300; time++) {
        const reply = await live.app.inject('/page')
        const nonce = reply.text()
        assert.match(nonce, /^[A-Za-z0-9+/]{22}==$/)
        seen.add(nonce)
        assert.equal(
          reply.headers['content-security-policy'],
          `default-src 'self'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'`,
        )
      }
      assert.equal(seen.size, 300)
      const reply = await live.ask('/page')
      assert.ok(reply.headers['content-security-policy']?.includes(`'nonce-${reply.text}'`))
    })
  })

  test('as middleware of a route it replaces the policy around it; reports stand beside it', async () => {
    const app = kit.app()
    app.use(securityHeaders())
    const page = csp({ scriptSrc: ["'self'", "'nonce'"] })
    app.get('/page', page, (ctx) => ctx.html(ctx.state.nonce))
    app.get('/try', csp({ defaultSrc: ["'none'"], reportTo: 'main' }, { reportOnly: true }), (ctx) =>
      ctx.text('x'),
    )
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/page')
      assert.equal(reply.headers['content-security-policy'], `script-src 'self' 'nonce-${reply.text}'`)
      const tried = await live.ask('/try')
      assert.equal(tried.headers['content-security-policy-report-only'], "default-src 'none'; report-to main")
      assert.equal(tried.headers['content-security-policy'], usual['content-security-policy'])
    })
  })

  test('state that somebody else calls nonce does not get into the header', async () => {
    const app = kit.app()
    app.use(async (ctx, next) => {
      ctx.state['nonce'] = "x' *; script-src *\r\n"
      await next()
    })
    app.get('/page', csp({ scriptSrc: ["'nonce'"] }), (ctx) => ctx.html(ctx.state.nonce))
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/page')
      assert.match(reply.headers['content-security-policy'] ?? '', /^script-src 'nonce-[A-Za-z0-9+/]{22}=='$/)
    })
  })

  const nonsense: [string, unknown, unknown?][] = [
    ...badDirectives,
    ['reportOnly', { scriptSrc: ["'self'"] }, { reportOnly: 1 }],
    ['report', { scriptSrc: ["'self'"] }, { report: true }],
  ]
  for (const [name, given, options] of nonsense) {
    test(`the directives ${JSON.stringify([given, options])} are refused`, () => {
      assert.throws(
        () => csp(given as CspDirectives, options as CspOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }
})
