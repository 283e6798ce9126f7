/** The tests of Rust: compiled once, then each binary is a job of its own, which runs beside those of TypeScript. */
import { dirname, relative } from 'node:path'
import { root } from '../command.mjs'
import { capture } from './run-job.mjs'

/** `faults`: injected panics, for the tests that need them. */
export const cargoArguments = ['--workspace', '--features', 'volant-engine/faults', '--locked']

const words = { ok: 'passed', FAILED: 'failed', ignored: 'skipped' }

/** Compiles the tests. Gives their binaries, `{ name, binary, folder }`, or what the compiler printed. */
export async function compileRust() {
  const args = ['test', ...cargoArguments, '--no-run', '--message-format=json-render-diagnostics']
  const { code, output, wall } = await capture('cargo', args)
  if (code !== 0) return { error: output, wall }
  const binaries = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ reason, executable, profile }) => reason === 'compiler-artifact' && executable && profile.test)
    .map(({ executable, manifest_path: manifest, target }) => ({
      name: `${relative(root, dirname(manifest))} ${target.name}`,
      binary: executable,
      folder: dirname(manifest),
    }))
  return { binaries, wall }
}

/** Runs one binary of tests. */
export async function runRust({ name, binary, folder }) {
  const { code, output, wall } = await capture(binary, [], { cwd: folder })
  return { results: resultsOf(name, code, output), output, wall, cpu: null }
}

/** Runs the examples of docstrings, which rustdoc compiles. */
export async function runDocTests() {
  const { code, output, wall } = await capture('cargo', ['test', '--doc', ...cargoArguments])
  return { results: resultsOf('doc tests', code, output), output, wall, cpu: null }
}

function resultsOf(source, code, output) {
  const results = [...output.matchAll(/^test (.+) \.\.\. (ok|FAILED|ignored)/gm)].map(([, name, word]) => ({
    source,
    name,
    result: words[word],
    error: word === 'FAILED' ? panicOf(name, output) : '',
    ms: 0,
  }))
  if (code !== 0 && !results.some(({ result }) => result === 'failed')) {
    results.push({
      source,
      name: `it runs to its end (exit code ${code})`,
      result: 'failed',
      error: output,
      ms: 0,
    })
  }
  return results
}

function panicOf(name, output) {
  const at = output.indexOf(`---- ${name} stdout ----`)
  const lines = at < 0 ? [] : output.slice(at).split('\n')
  const panicked = lines.findIndex((each) => each.includes('panicked at'))
  return panicked < 0 ? '' : lines.slice(panicked, panicked + 2).join(' ')
}
