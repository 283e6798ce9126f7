/** The rules for headers find what is wrong: each row breaks one of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asked, type CheckedReply, headerFaults } from '@volant/test-kit'
import { securityHeaders } from 'volant'
import { Kit } from './kit.ts'

const kit = new Kit()
const good: [string, string][] = []

const faultsOf = (
  changes: Record<string, string | null>,
  asked: Partial<Asked> = {},
  status = 200,
): string[] => {
  const raw: [string, string][] = good.filter(([name]) => !(name in changes))
  for (const [name, value] of Object.entries(changes)) if (value !== null) raw.push([name, value])
  const reply: CheckedReply = { status, raw }
  return headerFaults(reply, { method: 'GET', encrypted: true, ...asked })
}

test('the rules find each fault, and none in what securityHeaders sends', async () => {
  const app = kit.app({ trustProxy: true })
  app.use(securityHeaders())
  app.get('/', () => 'x')
  await kit.serve(app, async (live) => {
    const { headers } = await live.ask('/', {
      headers: { 'x-forwarded-proto': 'https', host: 'app.example' },
    })
    good.push(...Object.entries(headers))
  })
  assert.deepEqual(faultsOf({}), [])
  const policy = (text: string) => ({ 'content-security-policy': text })
  const whole = "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
  const rows: [
    changes: Record<string, string | null>,
    fault: RegExp,
    asked?: Partial<Asked>,
    status?: number,
  ][] = [
    [{ 'content-security-policy': null }, /^0 Content-Security-Policy/],
    [policy("default-src 'self'"), /base-uri is \*/],
    [policy(`${whole}; script-src 'self' 'unsafe-inline'`), /scripts may come from 'unsafe-inline'/],
    [policy(`${whole}; script-src 'unsafe-eval'`), /'unsafe-eval'/],
    [policy(`${whole}; script-src data:`), /data:/],
    [policy(`${whole}; object-src *`), /objects may come from \*/],
    [policy(`${whole}; style-src https:`), /styles may come from https:/],
    [policy(`${whole}; img-src http://a.example`), /not encrypted/],
    [policy(`${whole}; base-uri 'none'`), /base-uri is twice/],
    [policy("base-uri 'self'; form-action 'self'; frame-ancestors 'none'"), /scripts may come from \*/],
    [{ 'strict-transport-security': null }, /^0 Strict-Transport-Security/],
    [{ 'strict-transport-security': 'max-age=600; includeSubDomains' }, /for 600 seconds/],
    [{ 'strict-transport-security': 'includeSubDomains' }, /for NaN seconds/],
    [{ 'strict-transport-security': 'max-age=31536000' }, /without subdomains/],
    [{}, /over http/, { encrypted: false }],
    [{ 'x-content-type-options': 'nosniff, nosniff' }, /x-content-type-options/],
    [{ 'x-frame-options': 'ALLOW-FROM https://a.example' }, /x-frame-options/],
    [{ 'referrer-policy': 'unsafe-url' }, /referrer-policy/],
    [{ 'cross-origin-opener-policy': 'unsafe-none' }, /cross-origin-opener-policy/],
    [{ 'cross-origin-resource-policy': 'cross-origin' }, /cross-origin-resource-policy/],
    [{ 'x-xss-protection': '1' }, /x-xss-protection/],
    [{ 'permissions-policy': null }, /no Permissions-Policy/],
    [{ 'permissions-policy': 'camera=none' }, /Permissions-Policy has camera=none/],
    [{ 'permissions-policy': 'camera=*' }, /camera is \*/],
    [{ 'x-powered-by': 'x' }, /X?-?powered-by: x tells of the server/i],
    [{ server: 'nginx' }, /server: nginx/],
    [{ 'x-app': 'shop 1.2.3' }, /tells of a version/],
    [{ 'expect-ct': 'x' }, /no longer read/],
    [{ 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' }, /for every page/],
    [
      { 'access-control-allow-origin': 'https://e.example', vary: 'Origin' },
      /may read/,
      { strangeOrigin: 'https://e.example' },
    ],
    [{ 'access-control-allow-origin': 'https://a.example' }, /Vary/],
    [{}, /personal reply is ""/, { authenticated: true }],
    [{ 'cache-control': 'public, max-age=1' }, /personal reply/, { authenticated: true }],
    [{ 'cache-control': 'public, max-age=1' }, /an error is public/, {}, 404],
    [{ 'content-type': 'text/html' }, /no charset/],
    [{ 'content-type': null }, /no Content-Type/],
    [{}, /304 with Content-Type/, {}, 304],
    ...(
      [
        ['a=b; SameSite=Lax', /is not Secure/],
        ['a=b; Secure', /SameSite=$/],
        ['a=b; Secure; SameSite=Sometimes', /SameSite=sometimes/],
        ['session=b; Secure; SameSite=Lax', /read by scripts/],
        ['csrf=b; Secure; SameSite=None', /every site/],
        ['__Host-a=b; Secure; SameSite=Lax; Path=/x', /of this host alone/],
        ['__Host-a=b; Secure; SameSite=Lax; Path=/; Domain=a.example', /of this host alone/],
        ['=b; Secure; SameSite=Lax', /no name/],
      ] as const
    ).map(([cookie, fault]): [Record<string, string>, RegExp] => [
      { 'set-cookie': cookie, 'cache-control': 'no-store' },
      fault,
    ]),
  ]
  for (const [changes, fault, asked, status] of rows) {
    const faults = faultsOf(changes, asked, status)
    assert.ok(
      faults.some((each) => fault.test(each)),
      `${JSON.stringify(changes)}: ${faults.join('; ') || 'nothing'}`,
    )
  }
})
