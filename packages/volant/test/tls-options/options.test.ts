import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { revocations } from '../../src/tls/issue.ts'
import { authority, one, pemOf, pair, configOf, refuses } from './kit.ts'

describe('options of TLS', () => {
  test('the defaults', () => {
    const { certificates, ...rest } = configOf(pair(one))
    assert.equal(certificates.length, 1)
    assert.deepEqual(rest, {
      ca: [],
      crl: [],
      clientCertificate: 'none',
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      ciphers: [],
      groups: [],
      sessionTimeout: 43_200,
      ticketKeys: null,
      http2: true,
    })
  })

  test('certificates of clients', () => {
    const ca = pemOf(authority)
    const crl = revocations(authority, [one.certificate])
    assert.equal(configOf({ ...pair(one), requestCert: true, ca }).clientCertificate, 'required')
    const optional = configOf({ ...pair(one), requestCert: true, rejectUnauthorized: false, ca, crl })
    assert.equal(optional.clientCertificate, 'optional')
    assert.deepEqual(optional.ca, [authority.certificate.raw])
    assert.deepEqual(optional.crl, [crl])
    const text = `-----BEGIN X509 CRL-----\n${crl.toString('base64')}\n-----END X509 CRL-----\n`
    assert.deepEqual(configOf({ ...pair(one), requestCert: true, ca, crl: text }).crl, [crl])
    refuses({ ...pair(one), requestCert: true }, /requestCert needs tls\.ca/)
    refuses({ ...pair(one), ca }, /tls\.ca is about the certificates of clients.*tls\.cert/)
    refuses({ ...pair(one), crl }, /tls\.crl is about the certificates of clients/)
    for (const rejectUnauthorized of [true, false])
      refuses(
        { ...pair(one), rejectUnauthorized },
        /tls\.rejectUnauthorized is about the certificates of clients, which only requestCert: true asks for$/,
      )
    refuses({ ...pair(one), requestCert: 'yes', ca }, /tls\.requestCert takes true or false/)
  })

  test('versions, suites and groups', () => {
    const both = configOf({
      ...pair(one),
      ciphers: 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384:ecdhe-ecdsa-aes128-gcm-sha256',
      ecdhCurve: ['p-256', 'x25519'],
    })
    assert.deepEqual(both.ciphers, ['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-AES128-GCM-SHA256'])
    assert.deepEqual(both.groups, ['prime256v1', 'X25519'])
    assert.deepEqual(configOf({ ...pair(one), ecdhCurve: 'auto' }).groups, [])
    refuses(
      { ...pair(one), ciphers: 'HIGH:!aNULL' },
      /tls\.ciphers takes some of these suites.*no groups or signs of OpenSSL.*not "HIGH"/,
    )
    refuses(
      { ...pair(one), ciphers: 'ECDHE-RSA-AES256-GCM-SHA384', minVersion: 'TLSv1.3' },
      /no suite of TLSv1\.3/,
    )
    refuses({ ...pair(one), ecdhCurve: 'P-192' }, /tls\.ecdhCurve takes groups/)
    refuses({ ...pair(one), minVersion: 'TLSv1.1' }, /tls\.minVersion takes TLSv1\.2 or TLSv1\.3 .*RFC 8996/)
    refuses({ ...pair(one), maxVersion: 'TLSv1' }, /tls\.maxVersion takes TLSv1\.2 or TLSv1\.3/)
    refuses({ ...pair(one), minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' }, /tls\.minVersion takes at most/)
  })

  test('sessions', () => {
    const ticketKeys = randomBytes(48)
    assert.deepEqual(configOf({ ...pair(one), ticketKeys }).ticketKeys, ticketKeys)
    assert.equal(configOf({ ...pair(one), sessionTimeout: 0 }).sessionTimeout, 0)
    refuses({ ...pair(one), ticketKeys: randomBytes(32) }, /48 random bytes.*not "32 bytes"/)
    refuses({ ...pair(one), sessionTimeout: 604_801 }, /tls\.sessionTimeout takes seconds/)
    assert.equal(configOf({ ...pair(one), ticketKeys, sessionTimeout: 604_800 }).sessionTimeout, 604_800)
    refuses({ ...pair(one), sessionTimeout: 43_201 }, /tls\.sessionTimeout above 43200 needs tls\.ticketKeys/)
  })

  test('options that are not there say what to write', () => {
    const rows: [string, RegExp][] = [
      ['pfx', /openssl pkcs12/],
      ['SNICallback', /: write certificates: \[\{ cert, key \}, …\]; no function.*setTls/],
      ['handshakeTimeout', /tlsHandshakeTimeout/],
      ['ALPNProtocols', /listen\(\{ http2 \}\)/],
      ['dhparam', /ecdhCurve/],
      ['key_file_name', /readFileSync/],
      ['serverName', /: names stand in certificates: \[\{ cert, key, names \}\]/],
      ['names', /: names stand in certificates: \[\{ cert, key, names \}\]/],
      ['certt', /did you mean "cert"/],
    ]
    for (const [name, message] of rows) refuses({ ...pair(one), [name]: 'x' }, message)
    const certificates = [{ ...pair(one), serverName: 'one.example' }]
    refuses({ certificates }, /tls\.certificates\[0\] has no option "serverName"; did you mean "names"\?/)
  })
})
