/** Tests that Chromium trusts the authority of `volant cert` after the commands that it prints, and not before. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromiumOptions, withoutChromium } from '@volant/test-kit'
import { chromium } from 'playwright-core'
import { createApp } from 'volant'

const volant = fileURLToPath(new URL('bin.js', import.meta.resolve('volant')))
const home = mkdtempSync(join(tmpdir(), 'volant-home-'))
after(() => rmSync(home, { recursive: true, force: true }))

const withoutCertutil =
  spawnSync('certutil', ['--help']).error !== undefined && 'certutil is not installed (libnss3-tools)'
const notLinux = process.platform !== 'linux' && 'Chromium reads $HOME/.pki/nssdb on Linux alone'

test(
  'Chromium trusts the authority after the commands that are printed',
  { skip: withoutChromium || withoutCertutil || notLinux, timeout: 300_000 },
  async () => {
    const out = join(home, '.cert')
    const printed = execFileSync(process.execPath, [volant, 'cert', '--out', out], { encoding: 'utf8' })
    const [, commands = ''] = /^Chromium .*:\n((?: {2}.*\n)+)/m.exec(printed) ?? []
    assert.match(commands, /certutil .*\n.*certutil /, printed)

    const app = createApp({ signals: false })
    app.get('/', (ctx) => ctx.text(`HTTP/${ctx.httpVersion}`))
    const tls = { cert: readFileSync(join(out, 'cert.pem')), key: readFileSync(join(out, 'key.pem')) }
    const { port } = await app.listen({ port: 0, tls })
    try {
      await assert.rejects(visit(`https://localhost:${port}`), /ERR_CERT_AUTHORITY_INVALID/)
      execFileSync('sh', ['-e', '-c', commands], { env: environment() })
      assert.equal(await visit(`https://localhost:${port}`), 'HTTP/2')
      assert.equal(await visit(`https://127.0.0.1:${port}`), 'HTTP/2')
    } finally {
      await app.close()
    }
  },
)

/** Gives the text of a page, seen by a Chromium whose user has the home folder of this test. */
async function visit(url: string): Promise<string> {
  const browser = await chromium.launch({ ...chromiumOptions, env: environment() })
  try {
    const page = await browser.newPage()
    await page.goto(url)
    return await page.innerText('body')
  } finally {
    await browser.close()
  }
}

function environment(): Record<string, string> {
  return { ...(process.env as Record<string, string>), HOME: home }
}
