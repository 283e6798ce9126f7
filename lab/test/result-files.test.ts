import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { skip } from './broken-entry.ts'
import { inventedRun } from './invented-run.ts'
import { laboratory } from './laboratory.ts'

const lab = laboratory({ one: ['honest'] })
after(() => lab.close())

/** A run of two cells that was really measured, in windows longer than a busy machine stops a server. */
const name = 'whole'
before(async () => {
  if (skip) return
  const args = ['--scenarios', 'ramapi-json:plain', '--entries', 'one', '--rounds', '2', '--name', name]
  const { code, errors } = await lab.run(['run', ...args, '--warmup', '0.2', '--window', '2.5'])
  assert.equal(code, 0, errors)
})

function copyOf(run: string, change: (file: string, content: string) => string): string {
  mkdirSync(lab.file(run, ''))
  for (const file of ['run.json', 'cells.jsonl'])
    writeFileSync(lab.file(run, file), change(file, readFileSync(lab.file(name, file), 'utf8')))
  return run
}

test(
  'cells that are cut short: the line is named, --resume keeps the whole ones and measures the rest',
  { skip },
  async () => {
    const cut = copyOf('cut', (file, content) => (file === 'cells.jsonl' ? content.slice(0, -200) : content))
    const [table, report, compared] = await Promise.all([
      lab.run(['table', cut]),
      lab.run(['report', cut]),
      lab.run(['compare', cut, name]),
    ])
    for (const { code, output, errors } of [table, report, compared]) {
      assert.equal(code, 2)
      assert.equal(output, '')
      assert.match(
        errors,
        /^lab: .*cut\/cells\.jsonl: line 2 is cut short; npm run lab -- run --resume cut keeps the 1 whole cells and measures the rest\n$/,
      )
    }
    const resumed = await lab.run(['run', '--resume', cut])
    assert.equal(resumed.code, 0, resumed.errors)
    const cells = lab.cells(cut)
    assert.deepEqual(cells.slice(0, 1), lab.cells(name).slice(0, 1))
    assert.deepEqual(
      cells.map(({ round }) => round),
      [0, 1],
    )
    assert.equal((await lab.run(['table', cut])).code, 0)
  },
)

test('a line that is JSON and no cell is one that is cut', { skip }, async () => {
  for (const [run, line] of [
    ['null', 'null'],
    ['empty', '{}'],
    ['number', '7'],
  ] as const) {
    copyOf(run, (file, content) => (file === 'cells.jsonl' ? `${line}\n${content}` : content))
    const { code, errors } = await lab.run(['table', run])
    assert.equal(code, 2)
    assert.match(errors, /^lab: .*: line 1 is cut short; [^\n]*\n$/)
  }
})

test('a run.json that is cut short, or of another format, cannot be read', { skip }, async () => {
  const cases: [string, (content: string) => string, RegExp][] = [
    [
      'half',
      (content) => content.slice(0, content.length / 2),
      /run\.json is cut short or no JSON: .*measure again\n$/,
    ],
    ['nothing', () => '', /run\.json is cut short or no JSON/],
    ['none', () => 'null', /run\.json has format undefined; this lab reads 1\n$/],
    [
      'later',
      (content) => content.replace('"format": 1', '"format": 2'),
      /has format 2; this lab reads 1\n$/,
    ],
  ]
  for (const [run, change, expected] of cases) {
    copyOf(run, (file, content) => (file === 'run.json' ? change(content) : content))
    for (const args of [
      ['table', run],
      ['run', '--resume', run],
    ]) {
      const { code, errors } = await lab.run(args)
      assert.equal(code, 2, errors)
      assert.match(errors, /^lab: [^\n]+\n$/)
      assert.match(errors, expected)
    }
    assert.equal(lab.cells(run).length, 2, 'the cells are kept')
  }
})

test('a metric without a declared direction is refused, in a cell and in a baseline', { skip }, async () => {
  const run = copyOf('metric', (file, content) =>
    file === 'cells.jsonl' ? content.replace('"cpu":', '"beauty":') : content,
  )
  const cell = await lab.run(['table', run])
  assert.equal(cell.code, 2)
  assert.match(cell.errors, /^lab: .*cells\.jsonl, line 1: unknown metric beauty; known: cpu rate .*\n$/)

  const file = lab.file(name, 'baseline.json')
  assert.equal((await lab.run(['baseline', name, '--out', file])).code, 0)
  const whole = readFileSync(file, 'utf8')
  const same = await lab.run(['check', name, '--baseline', file])
  assert.equal(same.code, 0, same.errors)
  assert.match(same.output, /^0 worse, 0 better, 1 the same, 0 lost$/m)
  const cases: [string, RegExp][] = [
    [whole.replace('"cpu"', '"beauty"'), /baseline\.json: unknown metric beauty; known: cpu /],
    [whole.replace('"cpu"', '"__proto__"'), /baseline\.json: unknown metric __proto__; /],
    [
      whole.slice(0, -20),
      /baseline\.json is cut short or no JSON: write it again with npm run lab -- baseline RUN/,
    ],
    [whole.replace('"format": 1', '"format": 0'), /baseline\.json is no baseline: write one with /],
    ['{"format":1,"rows":[null]}', /unknown metric undefined; /],
    ['{"format":1,"rows":[{"metric":"cpu"}]}', /a row of cpu has no estimate: write it again/],
    [whole.replace('"ramapi-json"', '"other"'), /have no cell in common/],
  ]
  for (const [content, expected] of cases) {
    writeFileSync(file, content)
    const { code, errors } = await lab.run(['check', name, '--baseline', file])
    assert.equal(code, 2, errors)
    assert.match(errors, /^lab: [^\n]+\n$/)
    assert.match(errors, expected)
  }
})

test('check: 1 when worse, or lost; 0 when better', { skip }, async () => {
  const { run, cells } = inventedRun()
  const write = (to: string, changed: typeof cells): void => {
    mkdirSync(lab.file(to, ''))
    writeFileSync(lab.file(to, 'run.json'), JSON.stringify({ ...run, name: to }))
    writeFileSync(lab.file(to, 'cells.jsonl'), changed.map((cell) => `${JSON.stringify(cell)}\n`).join(''))
  }
  const times = (factor: number) =>
    cells.map((cell) => {
      const { cpu } = cell.metrics
      const changed = cell.entry === 'fast' && cell.scenario === 'hello' && cpu !== undefined
      return changed ? { ...cell, metrics: { ...cell.metrics, cpu: cpu * factor } } : cell
    })
  write('before', cells)
  write('worse', times(1.3))
  write('better', times(0.7))
  const failedRound = cells.map((cell) =>
    cell.entry === 'fast' && cell.scenario === 'hello'
      ? { ...cell, status: 'failed' as const, reason: 'it died', metrics: {} }
      : cell,
  )
  write('lost', failedRound)
  const file = lab.file('before', 'baseline.json')
  assert.equal((await lab.run(['baseline', 'before', '--out', file])).code, 0)
  const outcomes = await Promise.all(
    ['before', 'worse', 'better', 'lost'].map((one) => lab.run(['check', one, '--baseline', file])),
  )
  assert.deepEqual(
    outcomes.map(({ code }) => code),
    [0, 1, 0, 1],
  )
  const last = outcomes.map(({ output }) => output.trimEnd().split('\n').at(-1) as string)
  assert.match(last[1] as string, /^2 worse, 0 better, /)
  assert.match(last[2] as string, /^0 worse, 2 better, /)
  assert.match(last[3] as string, /^0 worse, 0 better, \d+ the same, 2 lost$/)
  assert.match(outcomes[1]?.output ?? '', /^worse .*\+30\.0 %/m)
  assert.match(outcomes[3]?.output ?? '', /^lost: cpu of fast in hello default$/m)
  // What is worse by 30 % is the same under a threshold of 40 %.
  const lenient = await lab.run(['check', 'worse', '--baseline', file, '--threshold', '0.4'])
  assert.equal(lenient.code, 0, lenient.output)
})
