import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { CertificateNames } from '../../src/tls/names.ts'
import { resolveTls } from '../../src/tls/options.ts'
import { authority, made, one, pemOf, keyOf, pair, configOf, refuses } from './kit.ts'

const two = made(['two.example', 'one.example'])

describe('certificates and keys', () => {
  test('PEM, bytes of PEM, DER, lists and chains give one chain', () => {
    const chain = [one.certificate.raw, authority.certificate.raw]
    const both = pemOf(one) + pemOf(authority)
    for (const cert of [
      both,
      Buffer.from(both),
      new Uint8Array(Buffer.from(both)),
      chain,
      [pemOf(one), pemOf(authority)],
    ])
      assert.deepEqual(configOf({ cert, key: keyOf(one) }).certificates[0]?.chain, chain)
    assert.deepEqual(configOf({ cert: one.certificate.raw, key: keyOf(one) }).certificates[0]?.chain, [
      one.certificate.raw,
    ])
  })

  test('every form of a key becomes PKCS#8', () => {
    const wanted = one.key.export({ type: 'pkcs8', format: 'der' })
    const secret = { cipher: 'aes-256-cbc', passphrase: 'open' }
    const forms: [string | Buffer, string?][] = [
      [one.key.export({ type: 'pkcs8', format: 'pem' })],
      [one.key.export({ type: 'sec1', format: 'pem' })],
      [wanted],
      [one.key.export({ type: 'sec1', format: 'der' })],
      [one.key.export({ type: 'pkcs8', format: 'pem', ...secret }), 'open'],
      [one.key.export({ type: 'pkcs8', format: 'der', ...secret }), 'open'],
      [one.key.export({ type: 'sec1', format: 'pem', ...secret }), 'open'],
    ]
    for (const [key, passphrase] of forms)
      assert.deepEqual(configOf({ cert: pemOf(one), key, passphrase }).certificates[0]?.key, wanted)
  })

  test('the names are those of the certificate, or those that are given', () => {
    assert.deepEqual(configOf(pair(one)).certificates[0]?.names, ['one.example', '*.one.example'])
    assert.deepEqual([...resolveTls(pair(one), true).addresses], ['127.0.0.1', '::1'])
    const certificates = [{ ...pair(one), names: ['API.one.example', '*.one.example'] }]
    assert.deepEqual(configOf({ certificates }).certificates[0]?.names, ['api.one.example', '*.one.example'])
    refuses(
      { certificates: [{ ...pair(one), names: ['other.example'] }] },
      /certificates\[0\]\.names: .* not for other\.example; it is for DNS:one/,
    )
    refuses({ certificates: [{ ...pair(one), names: 'one.example' }] }, /names takes a list of host names/)
  })

  test('what no client would take is refused with a sentence', () => {
    refuses({}, /needs a certificate: .*volant cert/)
    refuses({ cert: pemOf(one) }, /has cert without key/)
    refuses({ key: keyOf(one) }, /has key without cert/)
    refuses(
      { cert: './cert.pem', key: keyOf(one) },
      /tls\.cert takes a certificate in PEM or DER, not "\.\/cert\.pem".*readFileSync/,
    )
    refuses(
      { cert: pemOf(one), key: './key.pem' },
      /tls\.key takes a private key in PEM or DER, not "\.\/key\.pem".*readFileSync/,
    )
    refuses({ cert: keyOf(one), key: pemOf(one) }, /tls\.cert is a private key/)
    refuses({ cert: pemOf(one), key: pemOf(one) }, /tls\.key is no private key/)
    const cutOff = /tls\.(?:cert|key) is PEM without the whole of a (?:certificate|private key): .*cut off/
    refuses({ cert: pemOf(one).slice(0, 200), key: keyOf(one) }, cutOff)
    const revoked = '-----BEGIN X509 CRL-----\nMA==\n-----END X509 CRL-----\n'
    refuses({ cert: revoked, key: keyOf(one) }, cutOff)
    for (const empty of ['', '\n', Buffer.alloc(0)]) {
      refuses({ cert: empty, key: keyOf(one) }, /tls\.cert is empty: it takes a certificate$/)
      refuses({ cert: pemOf(one), key: empty }, /tls\.key is empty: it takes a private key$/)
    }
    const garbage = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'
    refuses({ cert: garbage, key: keyOf(one) }, /certificate 1 cannot be read: .*openssl x509 -in FILE/)
    refuses({ cert: 7, key: keyOf(one) }, /tls\.cert takes .*not 7/)
    refuses({ cert: [], key: keyOf(one) }, /at least one certificate/)
    refuses({ cert: pemOf(one), key: [keyOf(one), keyOf(two)] }, /takes one key\. .*tls\.certificates/)
    refuses({ cert: pemOf(one), key: keyOf(two) }, /not the key of tls\.cert, which is for DNS:one\.example/)
    refuses(
      { cert: pemOf(authority) + pemOf(one), key: keyOf(one) },
      /is for certificate 2, which belongs before/,
    )
    refuses(pair(made([])), /names no host in its subjectAltName/)
    refuses(
      { cert: pemOf(one), key: keyOf(one).slice(0, 80) + keyOf(one).slice(90) },
      /the key cannot be read: .*openssl pkey -in FILE/,
    )
    refuses({ cert: Buffer.from([0x30, 1, 2]), key: keyOf(one) }, /certificate 1 cannot be read/)
    const encrypted = one.key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    refuses({ cert: pemOf(one), key: encrypted }, /is encrypted: give its passphrase/)
    refuses({ cert: pemOf(one), key: encrypted, passphrase: 'y' }, /is the passphrase right\?/)
    refuses({ cert: pemOf(one), key: encrypted, passphrase: 7 }, /tls\.passphrase takes a text, not 7/)
  })

  test('weak keys are refused', () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
    const odd = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey
    const text = (key: typeof weak) => key.export({ type: 'pkcs8', format: 'pem' })
    refuses({ cert: pemOf(one), key: text(weak) }, /RSA with at least 2048 bits.*not "RSA with 1024 bits"/)
    refuses({ cert: pemOf(one), key: text(odd) }, /not "EC on secp256k1"/)
    refuses({ cert: pemOf(one), key: text(generateKeyPairSync('ed448').privateKey) }, /not "ed448"/)
  })

  test('a certificate that is not valid now is a warning', () => {
    const [late] = resolveTls(
      pair(
        made(['late.example'], {
          notBefore: new Date('2020-01-01T00:00:00Z'),
          notAfter: new Date('2020-01-09T00:00:00Z'),
        }),
      ),
      true,
    ).warnings
    assert.match(late ?? '', /^tls\.cert, which is for DNS:late\.example, expired at .*Z: clients refuse it/)
    const [early] = resolveTls(
      pair(made(['early.example'], { notBefore: new Date('2059-01-01T00:00:00Z') })),
      true,
    ).warnings
    assert.match(early ?? '', /is valid from .*Z on/)
    assert.deepEqual(resolveTls(pair(one), true).warnings, [])
  })
})

test('a host has the certificate with its name, then one with a wildcard, then the first', () => {
  const names = new CertificateNames(configOf({ ...pair(one), certificates: [pair(two)] }))
  const [first, second] = configOf({ ...pair(one), certificates: [pair(two)] }).certificates
  assert.deepEqual(names.find('one.example')?.names, first?.names)
  assert.deepEqual(names.find('a.one.example')?.names, first?.names)
  assert.equal(names.find('b.a.one.example'), null)
  assert.deepEqual(names.find('two.example')?.names, second?.names)
  assert.equal(names.find('three.example'), null)
  assert.deepEqual(names.served('three.example').names, first?.names)
  assert.deepEqual(names.served(null).names, first?.names)
})

test('issued certificates are valid, also for addresses and for keys of their own', () => {
  assert.ok(one.certificate.checkIssued(authority.certificate))
  assert.ok(one.certificate.verify(authority.certificate.publicKey))
  assert.ok(one.certificate.checkPrivateKey(createPrivateKey(keyOf(one))))
  assert.equal(one.certificate.checkHost('x.one.example'), '*.one.example')
  assert.equal(one.certificate.checkIP('::1'), '::1')
  assert.equal(one.certificate.ca, false)
  assert.equal(authority.certificate.ca, true)
  const later = new X509Certificate(
    made(['far.example'], { notAfter: new Date('2061-02-03T04:05:06Z') }).certificate.raw,
  )
  assert.equal(new Date(later.validTo).toISOString(), '2061-02-03T04:05:06.000Z')
})
