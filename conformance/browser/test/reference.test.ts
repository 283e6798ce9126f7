/** Tests the page of the reference service, and its reference of the API, as somebody who opens them in a browser. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
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
    assert.ok(!asked.includes('/metrics.json'), 'it asks for what it is told')
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
): Promise<void> {
  const { NODE_ENV: _, API_TOKEN: _token, ...env } = process.env
  const child = spawn(process.execPath, [server, '--adapter', adapter, '--port', '0'], {
    // Its guard against load does not refuse requests on a machine that is busy with other tests.
    env: { ...env, HOST: '127.0.0.1', DATABASE: join(folder, 'users.db'), MAX_DELAY: '9999' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface(child.stdout)
    const [line] = (await once(lines, 'line')) as [string]
    await run(/^Listening on (\S+)/.exec(line)?.[1] as string)
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}
