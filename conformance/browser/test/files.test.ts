/** Tests what a page does with files: it plays, saves and keeps them. */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { html, visit } from '../src/browser.ts'
import { seconds, wave } from '../src/wave.ts'

visit('a media element seeks by ranges', async ({ app, serve, page, folder }) => {
  const media = app()
  await writeFile(join(folder, 'tone.wav'), wave())
  const asked: string[] = []
  media.use((ctx, next) => {
    if (ctx.path === '/media/tone.wav') asked.push(ctx.headers.range ?? '')
    return next()
  })
  media.static('/media', folder)
  media.get('/', (ctx) => ctx.html(html('<audio preload="metadata" src="/media/tone.wav"></audio>')))
  await page.goto(await serve(media))
  const seen = await page.evaluate(async () => {
    const audio = document.querySelector('audio') as HTMLAudioElement
    const event = (name: string) =>
      new Promise((resolve) => audio.addEventListener(name, resolve, { once: true }))
    if (audio.readyState < 1) await event('loadedmetadata')
    const sought = event('seeked')
    audio.currentTime = audio.duration / 2
    await sought
    return { duration: audio.duration, at: audio.currentTime, error: audio.error }
  })
  assert.deepEqual(seen, { duration: seconds, at: seconds / 2, error: null })
  // Chromium 156 sent `bytes=0-`, read on until it had enough, then sent `bytes=5275648-`.
  const [first, ...others] = asked
  assert.equal(first, 'bytes=0-')
  assert.ok(
    others.some((range) => /^bytes=5\d{6}-$/.test(range)),
    asked.join(', '),
  )
})

visit('a link saves a file under its name', async ({ app, serve, page, folder }) => {
  const site = app()
  const path = join(folder, 'räksmörgås, "2".txt')
  await writeFile(path, 'x'.repeat(200_000))
  site.get('/save', (ctx) => ctx.file(path, { download: true }))
  site.get('/', (ctx) => ctx.html(html('<a href="/save">save</a>')))
  await page.goto(await serve(site))
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')])
  assert.equal(download.suggestedFilename().normalize(), 'räksmörgås, _2_.txt')
  assert.deepEqual(await readFile((await download.path()) as string), await readFile(path))
})

visit('a page app answers each of its paths, its assets are kept', async ({ app, serve, page, folder }) => {
  const site = app()
  const assets = join(folder, 'assets')
  await mkdir(assets)
  await writeFile(join(folder, 'index.html'), html('<h1></h1><script src="/assets/app.3f2a9c.js"></script>'))
  const script = "document.querySelector('h1').textContent = location.pathname"
  await writeFile(join(assets, 'app.3f2a9c.js'), script)
  const asked: string[] = []
  site.onResponse((ctx, { status }) => {
    if (ctx.path !== '/favicon.ico') asked.push(`${status} ${ctx.path}`)
  })
  site.static('/assets', assets, { immutable: true })
  site.static('/', folder, { fallback: 'index.html' })
  const url = await serve(site)
  for (const path of ['/', '/books/7', '/books/7']) {
    await page.goto(url + path)
    assert.equal(await page.textContent('h1'), path)
  }
  await page.reload()
  // No document is wanted here, so there is no page in place of it.
  assert.equal(await page.evaluate(async () => (await fetch('/api/none')).status), 404)
  assert.deepEqual(asked, [
    '200 /',
    '200 /assets/app.3f2a9c.js',
    '200 /books/7',
    '304 /books/7',
    '304 /books/7',
    '404 /api/none',
  ])
})
