/** Hashes of passwords. Each takes up to half a second, so that there are few. */
import assert from 'node:assert/strict'
import * as crypto from 'node:crypto'
import { describe, test } from 'node:test'
import { hashPassword, needsRehash, verifyPassword } from 'volant/auth'

const hasArgon2 = 'argon2' in crypto

const scryptOf = (password: string, ln: number, r: number, p: number): string => {
  const hash = crypto.scryptSync(password, 'somesalt', 32, { N: 2 ** ln, r, p })
  return `$scrypt$ln=${ln},r=${r},p=${p}$c29tZXNhbHQ$${hash.toString('base64').replace(/=+$/, '')}`
}

describe('passwords', () => {
  test('a hash is that of its password alone, and each has a salt of its own', async () => {
    const [hash, second] = await Promise.all([hashPassword('pa\u0308ss'), hashPassword('pa\u0308ss')])
    assert.match(
      hash,
      hasArgon2
        ? /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/
        : /^\$scrypt\$ln=17,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/,
    )
    assert.notEqual(hash, second)
    // The same letters, composed.
    assert.equal(await verifyPassword('p\u00e4ss', hash), true)
    assert.equal(await verifyPassword('pass', hash), false)
    assert.equal(needsRehash(hash), false)
  })

  test('hashes of other costs are checked, and are due to be made anew', async () => {
    const weak = scryptOf('x', 4, 8, 1)
    assert.equal(await verifyPassword('x', weak), true)
    assert.equal(await verifyPassword('y', weak), false)
    assert.equal(needsRehash(weak), true)
    assert.equal(needsRehash(weak, { algorithm: 'scrypt' }), true)
    const strong = `$scrypt$ln=17,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    assert.equal(needsRehash(strong, { algorithm: 'scrypt' }), false)
    assert.equal(needsRehash(strong), hasArgon2)
    assert.equal(needsRehash(`$argon2id$v=19$m=19456,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`), true)
  })

  test('an argon2id hash is checked where Node.js can, and refused with the reason where not', async () => {
    // By the reference implementation (P-H-C/phc-winner-argon2, test.c).
    const hash = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
    if (hasArgon2) {
      assert.equal(await verifyPassword('password', hash), true)
      assert.equal(await verifyPassword('Password', hash), false)
    } else {
      await assert.rejects(verifyPassword('password', hash), { code: 'E_PASSWORD_HASH', message: /24\.7/ })
      await assert.rejects(hashPassword('x', { algorithm: 'argon2id' }), { code: 'E_BAD_OPTION' })
    }
  })

  const tail = `$${'A'.repeat(22)}$${'A'.repeat(43)}`
  for (const [what, hash] of [
    ['all memory', `$argon2id$v=19$m=4194304,t=1,p=1${tail}`],
    ['passes without end', `$argon2id$v=19$m=19456,t=9999999,p=1${tail}`],
    ['lanes without memory', `$argon2id$v=19$m=8,t=1,p=2${tail}`],
    ['too many lanes', `$argon2id$v=19$m=19456,t=1,p=17${tail}`],
    ['scrypt with N of 2^30', `$scrypt$ln=30,r=8,p=1${tail}`],
    ['scrypt with huge blocks', `$scrypt$ln=10,r=9999999,p=1${tail}`],
    ['scrypt a thousand times', `$scrypt$ln=17,r=8,p=1000${tail}`],
    ['scrypt with memory for its lanes alone', `$scrypt$ln=1,r=1,p=4000000${tail}`],
    ['scrypt with an N that its blocks are too small for', `$scrypt$ln=16,r=1,p=1${tail}`],
    ['no cost', `$argon2id$v=19$m=0,t=0,p=0${tail}`],
    ['a number of ten digits', `$scrypt$ln=17,r=8,p=1000000000${tail}`],
    ['an old version', `$argon2id$v=16$m=19456,t=2,p=1${tail}`],
    ['another algorithm', `$2b$10$${'a'.repeat(53)}`],
    ['no salt', `$scrypt$ln=17,r=8,p=1$$${'A'.repeat(43)}`],
    ['a hash of two bytes', `$scrypt$ln=4,r=8,p=1$${'A'.repeat(22)}$AAA`],
    ['an endless hash', `$scrypt$ln=4,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(9_999)}`],
    ['a plain password', 'hunter2-hunter2'],
    ['nothing', ''],
    ['no text', undefined as unknown as string],
  ] as const) {
    test(`a hash with ${what} is refused, and not shown`, async () => {
      await assert.rejects(verifyPassword('x', hash), (error: Error & { code: string }) => {
        assert.equal(error.code, 'E_PASSWORD_HASH')
        assert.ok(!error.message.includes('hunter2') && !error.message.includes('AAAA'))
        return true
      })
      assert.throws(() => needsRehash(hash), { code: 'E_PASSWORD_HASH' })
    })
  }

  test('two run at once, a hundred wait, and the next one is 503', async () => {
    const weak = scryptOf('x', 4, 8, 1)
    const all = await Promise.allSettled(Array.from({ length: 105 }, () => verifyPassword('x', weak)))
    const refused = all.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    assert.equal(refused.length, 3)
    for (const { reason } of refused) {
      assert.deepEqual(
        [reason.status, reason.code, reason.headers],
        [503, 'E_PASSWORD_QUEUE', { 'retry-after': '5' }],
      )
    }
    assert.equal(await verifyPassword('x', weak), true)
  })

  test('a password is a text, and is not shown', async () => {
    for (const password of [undefined, null, 12_345_678, Buffer.from('hunter2')]) {
      for (const call of [hashPassword, (given: string) => verifyPassword(given, null)]) {
        await assert.rejects(call(password as unknown as string), (error: Error & { code: string }) => {
          assert.equal(error.code, 'E_BAD_OPTION')
          assert.ok(!/hunter2|12345678/.test(error.message))
          return true
        })
      }
    }
    await assert.rejects(hashPassword('x', { algorithm: 'md5' as 'scrypt' }), { code: 'E_BAD_OPTION' })
  })
})
