/** What is kept out of lines. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logger } from '../../src/index.ts'
import { Kit } from '../kit.ts'
import { type Line, linesOf, membersOf } from './lines-of.ts'

const kit = new Kit()

describe('secrets', () => {
  const secret = 's3cret'
  test('the usual names are kept out at any depth, however they are written', () => {
    const names = [
      'authorization',
      'Cookie',
      'set-cookie',
      'password',
      'access_token',
      'apiKey',
      'X-API-Key',
      'clientSecret',
    ]
    const fields = { user: { list: [Object.fromEntries(names.map((name) => [name, secret]))] }, open: 'yes' }
    const members = membersOf(fields)
    assert.doesNotMatch(JSON.stringify(members), /s3cret/)
    assert.match(JSON.stringify(members), /"Cookie":"\[Redacted\]".*"open":"yes"/)
    assert.match(JSON.stringify(membersOf(fields, { redact: false })), /s3cret/)
    const [child] = linesOf((log) => log.child({ token: secret }).info('x %o', { password: secret })) as [
      Line,
    ]
    assert.doesNotMatch(JSON.stringify(child), /s3cret/)
  })

  test('names and paths of the option', () => {
    const redact = ['iban', 'card.number', 'orders.*.note', 'deep["odd name"].x', 'req.headers.x-key']
    const members = membersOf(
      {
        a: { iban: secret },
        card: { number: secret, kind: 'visa' },
        number: 1,
        orders: [{ note: secret, id: 1 }],
        deep: { 'odd name': { x: secret } },
        password: secret,
      },
      { redact },
    )
    assert.deepEqual(members, {
      a: { iban: '[Redacted]' },
      card: { number: '[Redacted]', kind: 'visa' },
      number: 1,
      orders: [{ note: '[Redacted]', id: 1 }],
      deep: { 'odd name': { x: '[Redacted]' } },
      password: '[Redacted]',
    })
  })

  test('logger() without a destination shares destination, least level and secrets', async () => {
    const lines: Line[] = []
    const destination = { write: (text: string) => void lines.push(JSON.parse(text) as Line) }
    const app = kit.app({ log: { destination, level: 'warn', redact: ['iban', 'req.headers.x-key'] } })
    app.use(logger({ headers: ['x-key', 'x-open', 'x-api-key'], props: () => ({ password: secret }) }))
    app.get('/x', () => 'x')
    const headers = { 'x-key': secret, 'x-open': 'yes', 'x-api-key': secret }
    await app.inject({ url: '/x', headers })
    await app.inject({ url: `/none?iban=${secret}&a=1&Access-Token=${secret}`, headers })
    assert.equal(lines.length, 1)
    assert.equal(lines[0]?.level, 40)
    assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
    const { url } = (lines[0] as unknown as { req: { url: string } }).req
    assert.equal(url, '/none?iban=[Redacted]&a=1&Access-Token=[Redacted]')
  })
})

test('the password in a URL is kept out', () => {
  const [line] = linesOf((log) => log.info({ store: new URL('redis://app:se%2Fcret@cache:6379/0') }))
  assert.equal(line?.['store'], 'redis://app:[Redacted]@cache:6379/0')
  const [off] = linesOf((log) => log.info({ url: new URL('https://app:secret@host/') }), { redact: false })
  assert.equal(off?.['url'], 'https://app:secret@host/')
})
