import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { createApp, type VolantError } from 'volant'

const adapter = { type: 'uwebsockets' } as const
const skip = ((): string | false => {
  try {
    createApp({ adapter, signals: false })
    return false
  } catch (error) {
    return String(error)
  }
})()

const refused = (what: RegExp) => (error: VolantError) =>
  error.code === 'E_ADAPTER' && what.test(error.message)

/** Runs `script` in a process of its own, with `createApp` in scope; gives what it printed. */
function printed(script: string, env: Record<string, string> = {}): string {
  const volant = import.meta.resolve('volant')
  const source = `const { createApp } = await import(${JSON.stringify(volant)})\n${script}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return stdout + stderr
}

test('where uWebSockets.js is not installed, the error says how to install it', () => {
  const output = printed(`
    const { default: Module } = await import('node:module')
    const resolve = Module._resolveFilename
    Module._resolveFilename = (name, ...rest) => {
      if (name === 'uWebSockets.js') throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' })
      return resolve(name, ...rest)
    }
    try { createApp({ adapter: { type: 'uwebsockets' } }) } catch (error) { console.log(error.code, error.message) }`)
  assert.match(output, /^E_ADAPTER .*npm install uWebSockets\.js@npm:@uwsjs\/core@/)
})

test('unref is refused', { skip }, async () => {
  const app = createApp({ adapter, signals: false })
  await app.listen(0, '127.0.0.1')
  assert.throws(() => app.unref(), refused(/unref/))
  await app.close()
})

test('backlog and ipv6Only are refused by name, and the app can listen without', { skip }, async () => {
  const app = createApp({ adapter, signals: false })
  await assert.rejects(app.listen({ port: 0, backlog: 5 }), refused(/backlog/))
  await assert.rejects(app.listen({ port: 0, ipv6Only: true }), refused(/ipv6Only/))
  await app.listen({ port: 0, ipv6Only: false })
  await app.close()
})

test('a maxHeaderSize past that of the process is refused, and says which variable to set', { skip }, () => {
  const script = `
    for (const maxHeaderSize of [2_048, 4_096]) {
      try {
        createApp({ adapter: { type: 'uwebsockets' }, limits: { maxHeaderSize, maxHeaderLine: 1_024, maxUrlLength: 1_024 } })
        console.log('made')
      } catch (error) { console.log(error.code, error.message) }
    }`
  assert.match(printed(script), /^made\nE_ADAPTER .*2048.*\(4096\).*UWS_HTTP_MAX_HEADERS_SIZE/)
  assert.equal(printed(script, { UWS_HTTP_MAX_HEADERS_SIZE: '4096' }), 'made\nmade\n')
})

test('limits it cannot enforce are warned about, once', { skip }, () => {
  const output = printed(`
    for (let at = 0; at < 2; at++) {
      const app = createApp({ adapter: { type: 'uwebsockets' }, trustProxy: true, limits: { maxPipelined: 4 } })
      await app.listen(0, '127.0.0.1')
      await app.close()
    }`)
  assert.equal(output, 'volant: the adapter uwebsockets cannot enforce keepAliveTimeout and maxPipelined\n')
})
