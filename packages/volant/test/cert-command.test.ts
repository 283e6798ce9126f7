import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { createApp } from 'volant'
import { make } from '../src/tls/development.ts'
import { issue } from '../src/tls/issue.ts'

const bin = fileURLToPath(new URL('../src/bin.js', import.meta.url))
const day = 86_400_000
const folders: string[] = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'volant-cert-'))
  folders.push(made)
  return made
}
after(() => {
  for (const each of folders) rmSync(each, { recursive: true })
})
const read = (from: string, name: string): string => readFileSync(join(from, name), 'utf8')

describe('volant cert', () => {
  test('writes an authority and a certificate, which a client that trusts the authority accepts', async () => {
    const out = folder()
    const { status, stdout } = spawnSync(
      process.execPath,
      [bin, 'cert', 'shop.test', '*.shop.test', '--out', out],
      {
        encoding: 'utf8',
      },
    )
    assert.equal(status, 0)
    assert.match(stdout, /wrote .*cert\.pem.*for localhost, 127\.0\.0\.1, ::1, shop\.test, /)
    assert.equal(read(out, '.gitignore'), '*\n')
    if (process.platform !== 'win32')
      for (const name of ['ca-key.pem', 'key.pem'])
        assert.equal(statSync(join(out, name)).mode & 0o777, 0o600)
    const authority = new X509Certificate(read(out, 'ca.pem'))
    const certificate = new X509Certificate(read(out, 'cert.pem'))
    assert.ok(certificate.checkIssued(authority) && certificate.verify(authority.publicKey))
    assert.ok(certificate.checkPrivateKey(createPrivateKey(read(out, 'key.pem'))))
    // The authority signs for servers alone (TLS Web Server Authentication), and its certificates have the same
    // purpose.
    assert.deepEqual(
      [authority.keyUsage, certificate.keyUsage],
      [['1.3.6.1.5.5.7.3.1'], ['1.3.6.1.5.5.7.3.1']],
    )

    const app = createApp({ adapter: { type: 'node-http' }, signals: false, limits: { drainIdle: 0 } })
    app.get('/', () => 'trusted')
    const tls = { cert: read(out, 'cert.pem'), key: read(out, 'key.pem') }
    const { port } = await app.listen({ port: 0, host: '127.0.0.1', tls })
    try {
      for (const servername of ['localhost', 'shop.test', 'a.shop.test']) {
        const text = await new Promise<string>((resolve, reject) => {
          get({ host: '127.0.0.1', port, servername, ca: read(out, 'ca.pem'), agent: false }, (response) => {
            response.on('data', (chunk: Buffer) => resolve(chunk.toString()))
          }).on('error', reject)
        })
        assert.equal(text, 'trusted')
      }
    } finally {
      await app.close()
    }
  })

  test('keeps what is valid, makes anew what ends soon or lacks a name', async (t) => {
    const clock = testClock(t)
    const out = folder()
    make(out, [])
    const [authority, first] = [read(out, 'ca.pem'), read(out, 'cert.pem')]
    assert.match(make(out, []), /kept .*cert\.pem/)
    assert.equal(read(out, 'cert.pem'), first)
    make(out, ['a.local'])
    const second = read(out, 'cert.pem')
    assert.notEqual(second, first)
    await clock.advance(59 * day)
    assert.match(make(out, ['a.local']), /^kept /)
    assert.equal(read(out, 'cert.pem'), second)
    await clock.advance(2 * day)
    make(out, ['a.local'])
    assert.notEqual(read(out, 'cert.pem'), second)
    assert.equal(read(out, 'ca.pem'), authority)
    await clock.advance(303 * day)
    make(out, [])
    assert.equal(read(out, 'ca.pem'), authority)
    await clock.advance(2 * day)
    make(out, [])
    assert.notEqual(read(out, 'ca.pem'), authority)
  })

  test('keeps the names of the certificate before, and says them', async (t) => {
    const clock = testClock(t)
    const out = folder()
    const all = 'for localhost, 127.0.0.1, ::1, shop.test, 127.0.0.2, *.shop.test'
    make(out, ['shop.test', '127.0.0.2'])
    const ofAll = (text: string): boolean => (text.split('\n')[0] as string).endsWith(all)
    assert.ok(ofAll(make(out, ['*.SHOP.test'])))
    const kept = make(out, [])
    assert.match(kept, /^kept /)
    assert.ok(ofAll(kept))
    await clock.advance(70 * day)
    const renewed = make(out, [])
    assert.match(renewed, /^wrote /)
    assert.ok(ofAll(renewed))
    await clock.advance(330 * day)
    assert.ok(ofAll(make(out, [])))
    const { subjectAltName } = new X509Certificate(read(out, 'cert.pem'))
    assert.match(subjectAltName ?? '', /DNS:shop\.test, .*DNS:\*\.shop\.test/)
  })

  test('leaves the files of others as they are', () => {
    const refuses = (out: string, message: RegExp) => {
      const before = readdirSync(out).map((name) => [name, read(out, name)])
      assert.throws(() => make(out, []), message)
      assert.deepEqual(
        readdirSync(out).map((name) => [name, read(out, name)]),
        before,
      )
    }
    const notAfter = new Date('2049-12-31')
    const { certificate, key } = issue({ name: 'other', names: ['other.example'], use: 'server', notAfter })
    const keyText = key.export({ type: 'pkcs8', format: 'pem' }) as string
    for (const [name, keyName] of [
      ['cert.pem', 'key.pem'],
      ['ca.pem', 'ca-key.pem'],
    ] as const) {
      const out = folder()
      writeFileSync(join(out, keyName), keyText)
      refuses(out, /key\.pem has no (?:cert|ca)\.pem beside it, and is left as it is: .*--out/)
      writeFileSync(join(out, name), certificate.toString())
      refuses(out, /\.pem was not made by volant cert, and is left as it is: .*--out/)
      const broken = folder()
      make(broken, [])
      writeFileSync(join(broken, keyName), keyText)
      refuses(broken, /key\.pem is not the key of (?:cert|ca)\.pem, .*delete both, or .*--out/)
      writeFileSync(join(broken, name), 'no certificate')
      refuses(broken, /\.pem cannot be read: .*delete (?:cert|ca)\.pem and (?:ca-)?key\.pem, and run/)
      for (const each of [name, keyName]) rmSync(join(broken, each))
      assert.match(make(broken, []), /^wrote /)
    }
  })

  test('a .gitignore that is there stays, and what it lacks is said', () => {
    const out = folder()
    writeFileSync(join(out, '.gitignore'), 'node_modules\n')
    assert.match(make(out, []), /\.gitignore is left as it is: have it name ca-key\.pem and key\.pem\n$/)
    assert.equal(read(out, '.gitignore'), 'node_modules\n')
    writeFileSync(join(out, '.gitignore'), 'node_modules\nkey.pem\nca-key.pem\n')
    assert.doesNotMatch(make(out, []), /gitignore/)
    assert.doesNotMatch(make(folder(), []), /gitignore/)
  })

  test(
    'a key that is made anew is readable by its owner alone',
    { skip: process.platform === 'win32' },
    async (t) => {
      const clock = testClock(t)
      const out = folder()
      make(out, [])
      for (const name of ['ca-key.pem', 'key.pem']) chmodSync(join(out, name), 0o644)
      await clock.advance(400 * day)
      make(out, [])
      for (const name of ['ca-key.pem', 'key.pem'])
        assert.equal(statSync(join(out, name)).mode & 0o777, 0o600)
      assert.deepEqual(readdirSync(out), ['.gitignore', 'ca-key.pem', 'ca.pem', 'cert.pem', 'key.pem'])
    },
  )

  test('what it says to write in the app is where the files are', () => {
    const cwd = folder()
    const { stdout } = spawnSync(process.execPath, [bin, 'cert', '--out', 'certificates'], {
      encoding: 'utf8',
      cwd,
    })
    assert.ok(
      stdout.includes(
        "cert: readFileSync('certificates/cert.pem'), key: readFileSync('certificates/key.pem')",
      ),
    )
    const elsewhere = make(folder(), [])
    const [, file = ''] = /cert: readFileSync\('([^']+)'/.exec(elsewhere) ?? []
    assert.match(readFileSync(file, 'utf8'), /BEGIN CERTIFICATE/)
  })

  test('refuses names of others, and says what it takes', () => {
    const refused = ['example.com', '10.0.0.1', '192.168.1.5', 'localhost.evil.com']
    for (const name of refused) {
      const { status, stderr } = spawnSync(process.execPath, [bin, 'cert', name, '--out', folder()], {
        encoding: 'utf8',
      })
      assert.equal(status, 1)
      assert.match(
        stderr,
        /development certificate is for localhost, .*loopback addresses .* ends in \.local\./,
      )
    }
    for (const name of ['*.test', '*.localhost'])
      assert.throws(() => make(folder(), [name]), /no wildcard right below .* Write \*\.shop\./)
    const help = spawnSync(process.execPath, [bin, 'cert', '--help'], { encoding: 'utf8' })
    assert.deepEqual([help.status, help.stdout.startsWith('Usage: volant cert')], [0, true])
  })
})
