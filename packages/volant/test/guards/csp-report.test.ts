/** Reports of browsers about the content security policy. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cspReport, type CspReportOptions, type CspViolation } from 'volant/middleware'
import { Kit, stderrLines } from '../kit.ts'
import { refuses } from './kit.ts'

const kit = new Kit()

describe('cspReport', () => {
  const serving = (options: CspReportOptions, run: Parameters<Kit['serve']>[1]) => {
    const app = kit.app()
    app.register(cspReport, options)
    return kit.serve(app, run)
  }
  const old = {
    'document-uri': 'https://shop.example/reset?token=secret#part',
    'blocked-uri': 'inline',
    'effective-directive': 'script-src-elem',
    'violated-directive': 'script-src-elem',
    disposition: 'enforce',
    'source-file': 'https://shop.example/a.js?v=1',
    'line-number': 7,
    'column-number': 3,
    'script-sample': 'alert(1)',
  }
  const expected: CspViolation = {
    documentUrl: 'https://shop.example/reset',
    blockedUrl: 'inline',
    directive: 'script-src-elem',
    disposition: 'enforce',
    sourceFile: 'https://shop.example/a.js',
    line: 7,
    column: 3,
    sample: 'alert(1)',
  }
  const report = {
    type: 'csp-violation',
    age: 1,
    url: 'https://shop.example/',
    user_agent: 'x',
    body: {
      documentURL: old['document-uri'],
      blockedURL: 'inline',
      effectiveDirective: 'script-src-elem',
      disposition: 'enforce',
      sourceFile: old['source-file'],
      lineNumber: 7,
      columnNumber: 3,
      sample: 'alert(1)',
    },
  }
  const csp = 'application/csp-report'
  const json = 'application/reports+json'

  test('both formats', async () => {
    const seen: CspViolation[] = []
    await serving({ path: '/r', onReport: (violation) => seen.push(violation) }, async (live) => {
      for (const [type, body] of [
        [csp, { 'csp-report': old }],
        [`${csp}; charset=utf-8`, { 'csp-report': old }],
        [json, [report, { type: 'deprecation', body: {} }, report]],
        [json, report],
      ] as const) {
        assert.equal((await live.post('/r', type, JSON.stringify(body))).status, 204)
      }
      assert.deepEqual(seen, Array(5).fill(expected))
    })
  })

  test('hostile reports', async () => {
    const seen: CspViolation[] = []
    await serving({ onReport: (violation) => seen.push(violation) }, async (live) => {
      const rows: [type: string | null, body: string, status: number, reports: number][] = [
        [csp, '', 400, 0],
        [csp, '{', 400, 0],
        [csp, 'null', 204, 0],
        [csp, '[]', 204, 0],
        [csp, '{"csp-report":null}', 204, 0],
        [csp, '{"csp-report":[]}', 204, 0],
        [csp, '{"csp-report":{}}', 204, 1],
        [csp, '{"csp-report":{"document-uri":{"a":1},"line-number":"7","disposition":7}}', 204, 1],
        [csp, '{"csp-report":{"line-number":-1,"column-number":1e999}}', 204, 1],
        [csp, '{"__proto__":{"csp-report":{}}}', 400, 0],
        [csp, `${'['.repeat(1_000)}${']'.repeat(1_000)}`, 400, 0],
        [json, '[null,1,"x",[],{},{"type":"csp-violation"},{"type":"csp-violation","body":1}]', 204, 0],
        ['application/json', '{"csp-report":{}}', 415, 0],
        ['text/plain', '{"csp-report":{}}', 415, 0],
        [null, '{"csp-report":{}}', 415, 0],
        [csp, `{"csp-report":{"script-sample":"${'x'.repeat(65_536)}"}}`, 413, 0],
      ]
      for (const [type, body, status, reports] of rows) {
        seen.length = 0
        assert.deepEqual(
          [(await live.post('/csp-reports', type, body)).status, seen.length],
          [status, reports],
          body.slice(0, 80),
        )
      }
      const text = 'a\u0000\r\nvolant: forged\u001b[31m\u202eb\u2028c'
      await live.post(
        '/csp-reports',
        csp,
        JSON.stringify({ 'csp-report': { 'script-sample': text, disposition: 'x'.repeat(9_999) } }),
      )
      assert.deepEqual([seen[0]?.sample, seen[0]?.disposition.length], ['avolant: forged[31mbc', 1_024])
      assert.equal((await live.ask('/csp-reports')).status, 405)
    })
  })

  test('a line for each, as many as are allowed', async () => {
    const lines = await stderrLines(() =>
      serving({ maxReports: 3 }, async (live) => {
        for (let at = 0; at < 10; at++)
          assert.equal((await live.post('/csp-reports', json, JSON.stringify([report, report]))).status, 204)
      }),
    )
    assert.deepEqual(
      lines.filter((line) => line.includes('CSP')),
      Array(3).fill(`volant: CSP violation ${JSON.stringify(expected)}`),
    )
  })

  test('an error of onReport is reported, and the browser not told', async () => {
    for (const onReport of [
      () => {
        throw new Error('own')
      },
      () => Promise.reject(new Error('own')),
    ]) {
      await serving({ onReport }, async (live) => {
        assert.equal(
          (await live.post('/csp-reports', csp, JSON.stringify({ 'csp-report': old }))).status,
          204,
        )
        assert.deepEqual(
          kit.reports.splice(0).map((error) => (error as Error).message),
          ['own'],
        )
      })
    }
  })

  test('options that make no sense', () => {
    const bad = (options: object) => () => kit.app().register(cspReport, options as CspReportOptions)
    refuses([
      [bad({ path: 'reports' }), /cspReport: path takes a path/],
      [bad({ onReport: 1 }), /cspReport: onReport takes a function/],
      [bad({ maxReports: 0 }), /cspReport: maxReports takes an integer/],
      [bad({ limit: 1 }), /64 KiB/],
    ])
  })
})
