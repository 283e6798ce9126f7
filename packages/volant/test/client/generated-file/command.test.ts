/** `volant types`, which writes the file of a client. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clientFile } from '../../../src/generate/client-file.ts'
import { app } from './api.ts'

test('the command writes the file, checks it, and says what is wrong', () => {
  const folder = mkdtempSync(join(tmpdir(), 'volant-types-'))
  const bin = fileURLToPath(new URL('../../../src/bin.js', import.meta.url))
  const module = fileURLToPath(new URL('./api.js', import.meta.url))
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  try {
    assert.deepEqual(run('types', module, '--out', 'client/api.ts'), {
      status: 0,
      stdout: 'wrote client/api.ts\n',
      stderr: '',
    })
    assert.equal(readFileSync(join(folder, 'client/api.ts'), 'utf8'), clientFile(app).text)
    assert.deepEqual(run('types', module, '--out', 'client/api.ts'), { status: 0, stdout: '', stderr: '' })
    assert.equal(run('types', `${module}#app`, '--out', 'client/api.ts', '--check').status, 0)
    const other = run('types', `${module}#api`, '--out', 'client/api.ts', '--check')
    assert.equal(other.status, 1)
    assert.match(other.stderr, /^volant: client\/api\.ts is not what the API says/)
    assert.equal(run('types', module, '-o', 'a.d.ts').stdout, 'wrote a.d.ts\nwrote a.js\n')
    assert.equal(readFileSync(join(folder, 'a.js'), 'utf8'), clientFile(app).javascript)
    const made = `import { createApp } from ${JSON.stringify(import.meta.resolve('../../../src/index.js'))}
      const made = createApp({ adapter: { type: 'node-http' }, signals: false })\n`
    const files = {
      'nothing.mjs': 'const x = 1',
      'number.mjs': 'export const app = 5',
      'listening.mjs': `${made}await made.listen(0, '127.0.0.1')`,
      'later.mjs': `${made}void made.listen(0, '127.0.0.1')`,
      'failing.mjs': `${made}await made.listen({ port: 0, host: '203.0.113.7' })`,
      'both.mjs': `${made}made.expose({ ping: made.get('/ping', () => 1) })\nexport { made as app }\nawait made.listen(0, '127.0.0.1')`,
      'enum.ts': 'export enum Colour { red }',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const both = run('types', './both.mjs', '--out', 'both.ts')
    assert.equal(both.status, 0)
    assert.match(both.stderr, /^volant: \.\/both\.mjs starts a server when it is imported\. Let one module/)
    for (const [args, message] of [
      [
        ['types', './nothing.mjs', '--out', 'x.ts'],
        /^volant: \.\/nothing\.mjs exports nothing: export the app/,
      ],
      [['types', './number.mjs', '--out', 'x.ts'], /^volant: \.\/number\.mjs#app: clientFile takes an app/],
      [
        ['types', './listening.mjs', '--out', 'x.ts'],
        /^volant: \.\/listening\.mjs has no export app, and starts a server when it is imported\. Let one/,
      ],
      [['types', './later.mjs', '--out', 'x.ts'], /and starts a server when it is imported/],
      [
        ['types', './failing.mjs', '--out', 'x.ts'],
        /^volant: \.\/failing\.mjs starts a server when it is imported, and that failed: port 0 of 203/,
      ],
      [
        ['types', './enum.ts', '--out', 'x.ts'],
        /^volant: (\.\/enum\.ts is TypeScript, which Node\.js \S+ does not run: compile it|.*enum)/,
      ],
      [['types'], /takes one module[^]*Usage/],
      [['types', module], /--out/],
      [['types', module, '--out', 'x.js'], /\.ts/],
      [['types', module, '--nothing'], /--nothing/],
      [
        ['types', `${module}#x`, '--out', 'x.ts'],
        /has no export x; it has api, app: write \S+#api or \S+#app\n/,
      ],
      [['types', './none.js', '--out', 'x.ts'], /none\.js/],
      [['nothing'], /no command nothing/],
    ] as const) {
      const { status, stderr } = run(...args)
      assert.equal(status, 1, args.join(' '))
      assert.match(stderr, message)
    }
    assert.match(run('--help').stdout, /^Usage: volant types/m)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
