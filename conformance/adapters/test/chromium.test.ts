/** Tests what a browser says of replies, where Chromium is installed. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApp, securityHeaders } from 'volant'

const chromium = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
)
const skip = chromium === undefined && 'Chromium is not installed'

test('Chromium has nothing to say of securityHeaders()', { skip, timeout: 300_000 }, async () => {
  const app = createApp({ signals: false })
  app.use(securityHeaders())
  app.get('/', (ctx) => ctx.html('<!doctype html><title>x</title><script src="/x.js"></script>'))
  app.get('/x.js', (ctx) => ctx.header('content-type', 'text/javascript').text("console.log('the page ran')"))
  app.get('/favicon.ico', (ctx) => ctx.reply(204))
  const { url } = await app.listen(0, '127.0.0.1')
  const folder = mkdtempSync(join(tmpdir(), 'volant-chromium-'))
  try {
    const child = spawn(
      chromium as string,
      [
        '--headless',
        '--no-sandbox',
        '--no-first-run',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--enable-logging=stderr',
        `--user-data-dir=${folder}`,
        '--dump-dom',
        url,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let words = ''
    child.stderr.on('data', (chunk: Buffer) => void (words += chunk.toString()))
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
    const said = words
      .split('\n')
      .filter((line) => line.includes(':CONSOLE:'))
      .map((line) => /"(.*)", source:/.exec(line)?.[1])
    assert.deepEqual(said, ['the page ran'], words)
  } finally {
    await app.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})
