import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Exchange, Limits } from '@volant/engine'
import { createApp, type ListenOptions } from 'volant'
import { resolveListen } from '../src/app/listen-options.ts'
import { redirectingHost } from '../src/app/redirect.ts'
import { type Issued, issue, revocations } from '../src/tls/issue.ts'
import { CertificateNames } from '../src/tls/names.ts'
import { resolveTls, type TlsOptions } from '../src/tls/options.ts'

const day = 86_400_000
const inDays = (days: number): Date => new Date(Date.now() + days * day)
const authority = issue({ name: 'authority', use: 'authority', notAfter: inDays(9) })
const made = (names: readonly string[], more: { notBefore?: Date; notAfter?: Date } = {}): Issued =>
  issue({ name: names[0] ?? 'none', names, use: 'server', issuer: authority, notAfter: inDays(9), ...more })
const one = made(['one.example', '*.one.example', '127.0.0.1', '::1'])
const two = made(['two.example', 'one.example'])
const pemOf = ({ certificate }: Issued): string => certificate.toString()
const keyOf = ({ key }: Issued): string => key.export({ type: 'pkcs8', format: 'pem' }) as string
const pair = (issued: Issued) => ({ cert: pemOf(issued), key: keyOf(issued) })

const configOf = (options: TlsOptions) => resolveTls(options, true).config
const refuses = (options: unknown, message: RegExp) =>
  assert.throws(
    () => resolveTls(options as TlsOptions, true),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, 'E_BAD_OPTION')
      assert.match(error.message, message)
      return true
    },
  )

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
      pair(made(['late.example'], { notBefore: inDays(-9), notAfter: inDays(-1) })),
      true,
    ).warnings
    assert.match(late ?? '', /^tls\.cert, which is for DNS:late\.example, expired at .*Z: clients refuse it/)
    const [early] = resolveTls(pair(made(['early.example'], { notBefore: inDays(1) })), true).warnings
    assert.match(early ?? '', /is valid from .*Z on/)
    assert.deepEqual(resolveTls(pair(one), true).warnings, [])
  })
})

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

describe('listen', () => {
  const listenRefuses = (options: unknown, message: RegExp) =>
    assert.throws(() => resolveListen(options as ListenOptions), message)

  test('HTTP/2 comes with TLS, and alone where it is asked for', () => {
    assert.equal(resolveListen({ tls: pair(one) }).server.http2, true)
    assert.equal(resolveListen({ tls: pair(one) }).server.tls?.http2, true)
    assert.equal(resolveListen({ tls: pair(one), http2: false }).server.tls?.http2, false)
    assert.equal(resolveListen({ tls: pair(one), http2: false }).server.http2, undefined)
    assert.equal(resolveListen({ http2: true }).server.http2, true)
    assert.equal(resolveListen({}).server.http2, undefined)
    listenRefuses({ http2: 'h2c' }, /http2 takes true or false/)
  })

  test('names of other frameworks', () => {
    const app: [name: string, message: RegExp][] = [
      ['https', /TLS is given to app\.listen\(\{ tls: \{ cert, key \} \}\)/],
      ['tls', /TLS is given to app\.listen/],
      ['ssl', /TLS is given to app\.listen/],
      ['cert', /TLS is given to app\.listen/],
      ['key', /TLS is given to app\.listen/],
      ['http2', /it comes with app\.listen\(\{ tls \}\)/],
      ['http2SessionTimeout', /write limits: \{ http2IdleTimeout \}/],
      ['serverFactory', /its options are those of app\.listen/],
    ]
    for (const [name, message] of app)
      assert.throws(() => createApp({ [name]: {} }), { code: 'E_BAD_OPTION', message })
    listenRefuses({ https: {} }, /did you mean "tls"/)
    listenRefuses({ cert: 'x' }, /write tls: \{ cert, key \}/)
    listenRefuses({ http2SessionTimeout: 1 }, /http2IdleTimeout/)
  })

  test('redirectHttp', () => {
    const redirectHttp = { port: 80 }
    assert.deepEqual(resolveListen({ host: '::1', tls: pair(one), redirectHttp }).redirect, {
      port: 80,
      host: '::1',
    })
    listenRefuses({ redirectHttp }, /needs tls beside it/)
    listenRefuses({ tls: pair(one), redirectHttp: { port: '80' } }, /redirectHttp\.port takes an integer/)
    for (const given of [80, true, null])
      listenRefuses({ tls: pair(one), redirectHttp: given }, /redirectHttp takes \{ port: 80 \}, not /)
    listenRefuses({ tls: pair(one), redirectHttp: { port: 0 } }, /redirectHttp\.port .* from 1 to 65535/)
    listenRefuses(
      { port: 8443, tls: pair(one), redirectHttp: { port: 8443 } },
      /redirectHttp\.port is the port of the app itself: choose another, usually 80/,
    )
    const other = { port: 8443, host: '127.0.0.2' }
    assert.equal(resolveListen({ port: 8443, tls: pair(one), redirectHttp: other }).redirect?.port, 8443)
    listenRefuses({ tls: pair(one), redirectHttp: { port: 80, status: 301 } }, /keeps the method/)
    listenRefuses({ path: '/tmp/x', tls: pair(one), redirectHttp }, /socket file/)
  })

  test('the redirect says why it refuses a request', () => {
    const host = redirectingHost({} as Limits, 443, () => resolveTls(pair(one), true))
    const replyTo = (authority: string, path = '/') => {
      let reply: unknown[] = []
      const end = (...given: unknown[]) => void (reply = given)
      host.dispatch({ authority, path, query: '', end } as unknown as Exchange, 0, 0)
      return reply
    }
    assert.deepEqual(replyTo('one.example').slice(0, 3), [308, 0, ['Location', 'https://one.example/']])
    const [status, , , text] = replyTo('other.example')
    assert.deepEqual(
      [status, (JSON.parse(text as string) as { detail: string }).detail],
      [400, 'No certificate of this server is for the host of this request.'],
    )
    assert.match(replyTo('one.example', '*')[3] as string, /The target of this request is no path\./)
  })

  test('setTls needs an app that listens with tls', () => {
    assert.throws(() => createApp({ signals: false }).setTls(pair(one)), /does not listen with tls/)
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
  const far = new X509Certificate(
    made(['far.example'], { notAfter: new Date('2061-02-03T04:05:06Z') }).certificate.raw,
  )
  assert.equal(new Date(far.validTo).toISOString(), '2061-02-03T04:05:06.000Z')
})
