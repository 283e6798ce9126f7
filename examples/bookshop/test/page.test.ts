/** The page in Chromium, served from an origin of its own: a clerk signs in, uploads a cover, orders, and signs out. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually, freePort } from '@volant/test-kit'
import { chromium } from 'playwright-core'
import { settingsOf } from '../src/settings.ts'
import { shopOf } from '../src/shop.ts'
import { png, Visitor } from './visitor.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path))

test(
  'a clerk uses the page',
  { skip: executablePath === undefined && 'Chromium is not installed' },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bookshop-page-'))
    const clerk = { email: 'clerk@example.com', password: 'books, books, books' }
    // The shop has to know the origin of the page before the page knows the shop.
    const port = await freePort()
    const pageOrigin = `http://localhost:${port}`
    const settings = settingsOf({
      DATABASE_URL: join(folder, 'shop.db'),
      SECRETS: 'a key of a test that has thirty-two bytes',
      CLERK: `${clerk.email}:${clerk.password}`,
      COVERS: join(folder, 'covers'),
      PAGE_ORIGIN: pageOrigin,
      MAX_DELAY: '9999', // a busy machine refuses no request here
    })
    const app = await shopOf(settings, { log: false, signals: false })
    const { port: shopPort } = await app.listen(0, '127.0.0.1')
    const shop = `http://localhost:${shopPort}`
    const server = startPage({ API: shop, PORT: String(port), HOST: '127.0.0.1', TIMEOUT: '60000' })
    const line = createInterface(server.stdout!)[Symbol.asyncIterator]().next()
    const browser = await chromium.launch({
      executablePath: executablePath as string,
      chromiumSandbox: false,
      args: ['--disable-dev-shm-usage', '--disable-gpu'],
    })
    try {
      assert.ok(!(await line).done, 'the page is served')
      const { body } = await new Visitor(shop, {}, pageOrigin).call('POST', '/api/session', clerk)
      const emma = { title: 'Emma', author: 'Jane Austen', cents: 1_250, stock: 1 }
      const program = new Visitor(shop, { authorization: `Bearer ${body.token}` }, pageOrigin)
      assert.equal((await program.call('POST', '/api/books', emma)).status, 201)

      const page = await browser.newPage()
      page.setDefaultTimeout(60_000) // of a hang
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('console', (message) => message.type() === 'warning' && faults.push(message.text()))
      await page.goto(pageOrigin)
      await page.getByText('Jane Austen · 12.50 € · 1 in stock').waitFor()
      assert.equal(await page.getByText('Order').count(), 0)

      await page.getByPlaceholder('Email').fill(clerk.email)
      await page.getByPlaceholder('Password').fill(clerk.password)
      await page.getByText('Sign in').click()
      await page.getByText('clerk@example.com (clerk)').waitFor()
      const [cookie] = await page.context().cookies()
      assert.deepEqual(
        [cookie?.name, cookie?.httpOnly, cookie?.secure, cookie?.sameSite],
        ['__Host-session', true, true, 'Lax'],
      )

      await page.getByLabel('Cover').setInputFiles({ name: 'emma.png', mimeType: 'image/png', buffer: png })
      await page.getByText('The cover is there').waitFor()
      // waitForFunction would evaluate text when it looks again, which the page's Content-Security-Policy refuses.
      await eventually(
        async () => (await page.evaluate("document.querySelector('img')?.naturalWidth")) === 1,
        'the cover is shown',
      )
      await page.getByText('Order', { exact: true }).click()
      await page.getByText('Ordered: Emma').waitFor()
      await page.getByText('0 in stock').waitFor()
      await page.reload()
      await page.getByText('Sign out').click()
      await page.getByText('Sign in').waitFor()
      assert.deepEqual(faults, [])
    } finally {
      await browser.close()
      server.kill()
      await app.close({ drainIdle: 0 })
      await rm(folder, { recursive: true, force: true })
    }
  },
)

function startPage(env: Record<string, string>): ChildProcess {
  const file = fileURLToPath(new URL('../../page/dist/server.js', import.meta.url))
  return spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
