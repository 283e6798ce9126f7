/** A strict reader of Prometheus' text exposition format 0.0.4, for tests. Throws for whatever the format forbids. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const types = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])
const suffixes: Record<string, readonly string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

/** Metric families by name. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, Family>()
  let current: { name: string; family: Family } | null = null
  let help: [name: string, text: string] | null = null
  for (const line of text.slice(0, -1).split('\n')) {
    if (line.startsWith('# HELP ')) {
      const match = /^# HELP ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? wrong(line, 'HELP')
      if (help !== null) wrong(line, 'HELP without TYPE before it')
      help = [match[1] as string, match[2] as string]
    } else if (line.startsWith('# TYPE ')) {
      const [, name = '', type = ''] = /^# TYPE ([a-zA-Z_:][\w:]*) (\w+)$/.exec(line) ?? wrong(line, 'TYPE')
      if (!types.has(type)) wrong(line, 'an unknown type')
      if (help?.[0] !== name) wrong(line, 'no HELP before it')
      if (families.has(name)) wrong(line, 'the family was there already')
      if (type === 'counter' && !name.endsWith('_total')) wrong(line, 'a counter that does not end in _total')
      current = { name, family: { type, help: help?.[1] ?? '', samples: [] } }
      families.set(name, current.family)
      help = null
    } else {
      const sample = parseSample(line)
      if (current === null || help !== null) throw new Error(`a sample without its TYPE: ${line}`)
      const { name, family } = current
      const allowed = (suffixes[family.type] ?? ['']).map((suffix) => name + suffix)
      if (!allowed.includes(sample.name)) wrong(line, `not of ${name}`)
      family.samples.push(sample)
    }
  }
  for (const [name, { type, samples }] of families) if (type === 'histogram') checkHistogram(name, samples)
  checkUnique(families)
  return families
}

function parseSample(line: string): Sample {
  const [, name = '', inner, number = ''] =
    /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? wrong(line, 'no sample')
  const labels: Record<string, string> = {}
  const pair = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/y
  for (let at = 0; inner !== undefined && at < inner.length; at = pair.lastIndex) {
    pair.lastIndex = at
    const [, key = '', value = ''] = pair.exec(inner) ?? wrong(line, 'bad labels')
    if (key in labels) wrong(line, 'a label twice')
    labels[key] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  }
  if (!/^(?:[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|[-+]Inf|NaN)$/.test(number)) wrong(line, 'no number')
  return { name, labels, value: number.endsWith('Inf') ? Infinity : Number(number) }
}

/** Buckets rise, the last one is +Inf, and it is the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, Sample[]>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    const key = JSON.stringify(labels)
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const [key, all] of series) {
    const buckets = all.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => (labels.le === '+Inf' ? Infinity : Number(labels.le)))
    const counts = buckets.map(({ value }) => value)
    const rises = (list: number[]): boolean =>
      list.every((each, at) => at === 0 || each >= (list[at - 1] as number))
    const total = all.filter((sample) => sample.name === `${name}_count`)
    const sums = all.filter((sample) => sample.name === `${name}_sum`)
    if (!rises(bounds) || !rises(counts) || bounds.at(-1) !== Infinity) wrong(key, 'buckets')
    if (total.length !== 1 || sums.length !== 1 || total[0]?.value !== counts.at(-1))
      wrong(key, 'count and sum')
  }
}

function checkUnique(families: Map<string, Family>): void {
  const seen = new Set<string>()
  for (const { name, labels } of [...families.values()].flatMap(({ samples }) => samples)) {
    const key = name + JSON.stringify(Object.entries(labels).sort())
    if (seen.has(key)) wrong(key, 'a sample twice')
    seen.add(key)
  }
}

function wrong(where: string, what: string): never {
  throw new Error(`${what}: ${where}`)
}
