/** The page in two tabs of Chromium, at two processes. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { RedisServer, withoutRedis } from '@volant/test-kit'
import { type Browser, chromium, type Page } from 'playwright-core'
import { Process } from './processes.ts'

const executablePath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path))
const skip = executablePath === undefined ? 'Chromium is not installed' : withoutRedis

let redis: RedisServer
let browser: Browser
let first: Process
let second: Process
const faults: string[] = []

before(async () => {
  if (skip !== false) return
  redis = await (await RedisServer.make()).start()
  const url = `redis://127.0.0.1:${redis.port}`
  ;[first, second] = await Promise.all([Process.start(url), Process.start(url)])
  browser = await chromium.launch({
    executablePath: executablePath as string,
    chromiumSandbox: false,
    args: ['--disable-dev-shm-usage', '--disable-gpu'],
  })
})

after(async () => {
  await browser?.close()
  await Promise.all([first?.end(), second?.end()])
  await redis?.end()
})

/** A tab of somebody who has signed in, with cookies of its own. */
async function enter(process: Process, name: string, view = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...view })
  context.setDefaultTimeout(60_000) // of a hang
  const page = await context.newPage()
  page.on('pageerror', (error) => faults.push(error.message))
  page.on(
    'console',
    (message) => /Content.Security.Policy/i.test(message.text()) && faults.push(message.text()),
  )
  await page.goto(process.url)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(`the password of ${name}`)
  const connected = page.getByText('Connected', { exact: true })
  const fault = page.getByText('The server does not answer. Try again.')
  // A page waits for 10 s, and a busy machine may take longer for an answer.
  for (let tries = 0; tries < 5; tries++) {
    await page.getByRole('button', { name: 'Sign in' }).click()
    await connected.or(fault).first().waitFor()
    if (!(await fault.isVisible())) break
  }
  await connected
    .waitFor()
    .catch(async () => assert.fail(`${name} is not connected: ${await page.locator('body').innerText()}`))
  return page
}

const say = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}
const said = (page: Page, text: string) => page.locator('#messages li:not(.waits)').getByText(text)
const isHere = (page: Page, name: string) => page.locator('#members').getByText(name, { exact: true })

test('two tabs at two processes', { skip }, async () => {
  const ada = await enter(first, 'Ada')
  const ida = await enter(second, 'Ida')
  for (const tab of [ada, ida]) for (const name of ['Ada', 'Ida']) await isHere(tab, name).waitFor()

  // It is shown for 4 s only: a page that begins to look when all is typed may come too late.
  const isShown = ida.getByText('Ada is typing …').waitFor()
  await ada.getByLabel('Message', { exact: true }).pressSequentially('Is anybody')
  await isShown
  await say(ada, 'Is anybody <b>here</b>?')
  await said(ida, 'Is anybody <b>here</b>?').waitFor()
  assert.equal(await ida.getByText('Ada is typing …').count(), 0)
  await say(ida, 'I am')
  await said(ada, 'I am').waitFor()
  assert.deepEqual(await ada.locator('#messages li.mine').count(), 1)

  // Rooms are apart, and the address names them.
  await ida.getByRole('link', { name: 'kitchen' }).click()
  await ida.getByRole('heading', { name: 'kitchen' }).waitFor()
  await isHere(ada, 'Ida').waitFor({ state: 'detached' })
  await ida.goBack()
  await isHere(ada, 'Ida').waitFor()
  await said(ida, 'Is anybody').waitFor()

  // The tab of Ada loses its process; what is said on both sides meanwhile arrives once.
  await first.end('SIGKILL')
  await isHere(ida, 'Ada').waitFor({ state: 'detached' })
  await ada.getByText(/Connecting again/).waitFor()
  await say(ada, 'I was away')
  await ada.locator('#messages li.waits').waitFor()
  await say(ida, 'Where are you?')
  await said(ida, 'Where are you?').waitFor()
  await first.start()
  for (const tab of [ada, ida]) {
    await said(tab, 'I was away').waitFor()
    assert.deepEqual(
      (await tab.locator('#messages li').allInnerTexts()).map((text) => text.split('\n').at(-1)),
      ['Is anybody <b>here</b>?', 'I am', 'Where are you?', 'I was away'],
    )
  }

  // A tab that closes is gone from the room.
  await isHere(ida, 'Ada').waitFor()
  await ada.close()
  await isHere(ida, 'Ada').waitFor({ state: 'detached' })

  // Signing out ends the session in all tabs of the browser.
  const another = await ida.context().newPage()
  await another.goto(`${second.url}/#garden`)
  await another.getByText('Connected', { exact: true }).waitFor()
  await another.getByRole('button', { name: 'Sign out' }).click()
  for (const tab of [another, ida]) await tab.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.deepEqual(faults, [])
})
