/** Tests the page of the reference service, and its reference of the API, as somebody who opens them in a browser. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'
import type { Page } from 'playwright-core'
import type { AdapterType } from 'volant'
import { visit } from '../src/browser.ts'

const server = fileURLToPath(
  new URL('../../../../examples/reference-api/dist/src/server.js', import.meta.url),
)

visit('each button of the page at / is answered', async ({ adapter, page, folder }) => {
  await serving(adapter, folder, async (url) => {
    const said = listen(page)
    await page.goto(url)
    const buttons = page.locator('button[data-path]')
    for (const button of await buttons.all()) await button.click()
    const outcomes = page.locator('.outcome b')
    await outcomes.nth((await buttons.count()) - 1).waitFor()
    for (const outcome of await outcomes.allTextContents()) assert.match(outcome, /^20[01] /)
    // The figures come once a second.
    await page.locator('#rate', { hasText: /\d/ }).waitFor()
    assert.deepEqual(said, [])
  })
})

visit('the page at /live draws the figures that events bring', async ({ adapter, page, folder }) => {
  await serving(adapter, folder, async (url) => {
    const said = listen(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`${url}/live`)
    await page.getByText('Live, by server-sent events').waitFor()
    await page.locator('#rate', { hasText: /\d/ }).waitFor()
    await page.waitForFunction(
      () => (document.querySelector('polyline.rss')?.getAttribute('points') ?? '').split(' ').length >= 3,
    )
    assert.equal(await page.locator('#streams').textContent(), '1')
    assert.ok(!asked.includes('/live/figures'), 'it asks for what it is told')
    assert.deepEqual(said, [])
  })
})

visit(
  'the page at /live asks for figures where events are blocked, and is read without JavaScript',
  async ({ adapter, page, folder }) => {
    await serving(adapter, folder, async (url) => {
      await page.route('**/live/events', (route) => route.abort())
      await page.addInitScript(() => Reflect.deleteProperty(window, 'EventSource'))
      await page.goto(`${url}/live`)
      await page.getByText('Live, asked for once a second').waitFor()
      await page.locator('#rate', { hasText: /\d/ }).waitFor()
      const context = await page.context().browser()?.newContext({ javaScriptEnabled: false })
      const plain = await context?.newPage()
      await plain?.goto(`${url}/live`)
      assert.match((await plain?.locator('#rss').textContent()) ?? '', /^\d+ MB$/)
      assert.match(
        (await plain?.locator('#state').textContent()) ?? '',
        /without JavaScript the page is loaded/,
      )
      await context?.close()
    })
  },
  ['native'],
)

visit(
  'the reference of the API is shown without a word on the console',
  async ({ adapter, page, folder }) => {
    await serving(adapter, folder, async (url) => {
      const said = listen(page)
      await page.goto(`${url}/docs`)
      for (const title of ['A page of users, by id', 'Add a user'])
        await page.getByRole('heading', { name: title }).first().waitFor()
      assert.deepEqual(said, [])
    })
  },
  ['native'],
)

visit('the button at /live replaces all workers, and the page goes on', async ({ adapter, page, folder }) => {
  await serving(
    adapter,
    folder,
    async (url) => {
      const said = listen(page)
      await page.goto(`${url}/live`)
      await page.getByText('Live, by server-sent events').waitFor()
      const pids = () => page.locator('#workers td.pid').allTextContents()
      const before = await pids()
      assert.equal(before.length, 2)
      await page.getByRole('button', { name: 'Restart all workers' }).click()
      await page.locator('#roll', { hasText: 'All workers were replaced' }).waitFor()
      const now = await pids()
      assert.equal(now.length, 2)
      for (const pid of now) assert.ok(!before.includes(pid), `${pid} was there before`)
      assert.equal(await page.locator('#restarts').textContent(), '2 by roll')
      await page.getByText('Live, by server-sent events').waitFor()
      assert.deepEqual(said, [])
    },
    '--workers',
    '2',
  )
})

/** What the browser says of the page: errors of scripts, refused by policies, and replies that failed. */
function listen(page: Page): string[] {
  const said: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') said.push(message.text())
  })
  return said
}

/** Runs the service, as `npm start` does, while `run` asks it. */
async function serving(
  adapter: AdapterType,
  folder: string,
  run: (url: string) => Promise<void>,
  ...args: string[]
): Promise<void> {
  const { NODE_ENV: _, API_TOKEN: _token, ...env } = process.env
  const child = spawn(process.execPath, [server, '--adapter', adapter, '--port', '0', ...args], {
    // Its guard against load does not refuse requests on a machine that is busy with other tests.
    env: { ...env, HOST: '127.0.0.1', DATABASE: join(folder, 'users.db'), MAX_DELAY: '9999' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let said = ''
  child.stdout.on('data', (part) => (said += String(part)))
  try {
    const found = () => /listening on (http\S+)/i.exec(said)?.[1]
    await eventually(() => found() !== undefined || child.exitCode !== null, 'it listens')
    await run(found() as string)
  } finally {
    // Workers end when their supervisor has.
    child.kill('SIGKILL')
    await ended
  }
}
