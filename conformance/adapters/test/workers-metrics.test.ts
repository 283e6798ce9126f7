/** One /metrics for several workers: nothing is counted twice, lost in a roll or a crash, or goes back. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { eventually, turns } from '@volant/test-kit'
import { createApp } from 'volant'
import { type Family, parseExposition } from '../src/prometheus.ts'
import { request, Started } from './workers/started.ts'

const skip = createApp({ signals: false }).adapterName !== 'native' && 'the native engine is not there'

/** Counts the replies that the clients of the test have seen. */
class Seen {
  /** The requests that were answered, by process. */
  readonly answered = new Map<number, number>()
  /** The number of requests whose connection failed: nobody knows whether they were answered. */
  unknown = 0

  get total(): number {
    return [...this.answered.values()].reduce((sum, each) => sum + each, 0)
  }

  of(pid: number): number {
    return this.answered.get(pid) ?? 0
  }

  async ask(url: string, agent: Agent): Promise<number | null> {
    try {
      const { status, text } = await request(`${url}/counted`, agent)
      assert.equal(status, 200)
      const { pid } = JSON.parse(text) as { pid: number }
      this.answered.set(pid, this.of(pid) + 1)
      return pid
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
      this.unknown++
      return null
    }
  }
}

/** Scrapes again and again, and looks whether a counter is lower than before. */
class Scraper {
  readonly #url: string
  /** The highest value of each series. */
  readonly #highest = new Map<string, number>()
  scrapes = 0

  constructor(url: string) {
    this.#url = url
  }

  async scrape(): Promise<Map<string, Family>> {
    // Each scrape has a connection of its own, so that each worker is asked.
    const ask = () => request(`${this.#url}/metrics`)
    let { status, text } = await ask()
    // A supervisor that stands still cannot give the figures of the other workers.
    await eventually(async () => {
      if (status !== 503 || !text.includes('the supervisor does not answer')) return true
      ;({ status, text } = await ask())
      return false
    }, 'the supervisor answers')
    assert.equal(status, 200, text)
    this.scrapes++
    const families = parseExposition(text)
    const now = new Map<string, number>()
    for (const { type, samples } of families.values()) {
      if (type !== 'counter' && type !== 'histogram') continue
      for (const { name, labels, value } of samples) {
        // Counters of a process begin anew with the next one.
        if (labels['worker'] === undefined) now.set(`${name}${JSON.stringify(labels)}`, value)
      }
    }
    for (const [series, value] of this.#highest) {
      const current = now.get(series)
      assert.ok(current !== undefined && current >= value, `${series} was ${value}, and is ${current}`)
    }
    for (const [series, value] of now) this.#highest.set(series, value)
    return families
  }

  /** Scrapes until the requests to `/counted` are as many, and fails if they are more. */
  async reaches(least: number, most = least): Promise<number> {
    let counted = NaN
    await eventually(async () => {
      counted = countedOf(await this.scrape())
      assert.ok(counted <= most, `${counted} requests are counted, and at most ${most} were sent`)
      return counted >= least
    }, `${least} requests are counted`)
    return counted
  }

  /** Scrapes until the figure has the value. */
  async until(name: string, labels: Record<string, string>, value: number): Promise<void> {
    await eventually(async () => valueOf(await this.scrape(), name, labels) === value, `${name} is ${value}`)
  }
}

function valueOf(families: Map<string, Family>, name: string, labels: Record<string, string>): number {
  const samples = families.get(name)?.samples ?? []
  const found = samples.find((each) =>
    Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  )
  return found?.value ?? NaN
}

function countedOf(families: Map<string, Family>): number {
  const samples = families.get('http_request_duration_seconds')?.samples ?? []
  const counts = samples.filter(
    ({ name, labels }) => name.endsWith('_count') && labels['route'] === '/counted',
  )
  return counts.reduce((sum, { value }) => sum + value, 0)
}

test('the counters of three workers through a roll, a crash and a kill', { skip }, async () => {
  const started = new Started('metered', 3)
  const agents: Agent[] = []
  const client = (): Agent => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    agents.push(agent)
    return agent
  }
  try {
    const url = await started.url(started.child.stdout as NodeJS.ReadableStream)
    const seen = new Seen()
    const scraper = new Scraper(url)

    /** Has twelve clients ask, and scrapes, until `done` resolves. */
    const load = async (done: Promise<void>): Promise<void> => {
      let isOver = false
      const clients = Array.from({ length: 12 }, async () => {
        const agent = client()
        while (!isOver) {
          await seen.ask(url, agent)
          await turns(1)
        }
      })
      await done.finally(() => {
        isOver = true
      })
      await Promise.all(clients)
    }

    // Under load, all workers are replaced.
    await load(
      (async () => {
        await scraper.until('volant_workers', { state: 'ready' }, 3)
        started.child.kill('SIGHUP')
        await scraper.until('volant_worker_restarts_total', { reason: 'roll' }, 3)
        await scraper.until('volant_workers', { state: 'draining' }, 0)
      })(),
    )
    assert.ok(seen.answered.size >= 4, 'the old and the new workers have answered')
    const counted = await scraper.reaches(seen.total, seen.total + seen.unknown)
    assert.equal(counted, seen.total, 'a roll fails no request')

    // A process that ends by itself has all of its requests counted, to the last one.
    const before = seen.total
    const some = client()
    for (let time = 0; time < 50; time++) await seen.ask(url, some)
    await request(`${url}/crash`, some)
    await scraper.until('volant_worker_restarts_total', { reason: 'crash' }, 1)
    await scraper.until('volant_workers', { state: 'ready' }, 3)
    assert.ok(seen.total > before)
    await scraper.reaches(seen.total, seen.total + seen.unknown)

    // A process that is killed loses the requests since it was asked last, and nothing else.
    const families = await scraper.scrape()
    const known = countedOf(families)
    const total = valueOf(families, 'http_requests_total', {})
    const agent = client()
    let killed: number | null = null
    let lost = 0
    const others = seen.total
    for (let time = 0; time < 37; time++) {
      const pid = await seen.ask(url, agent)
      assert.ok(pid !== null && (killed ?? pid) === pid, 'a connection stays with its worker')
      killed = pid
      lost++
    }
    process.kill(killed as number, 'SIGKILL')
    await scraper.until('volant_worker_restarts_total', { reason: 'crash' }, 2)
    await scraper.until('volant_workers', { state: 'ready' }, 3)
    assert.equal(countedOf(await scraper.scrape()), known)
    assert.equal(seen.total, others + lost)
    for (let time = 0; time < 20; time++) await seen.ask(url, client())
    await scraper.reaches(known + 20)

    // Under load, too, a kill takes nothing back.
    const asked = seen.total
    await load(
      (async () => {
        process.kill((await seen.ask(url, client())) as number, 'SIGKILL')
        await scraper.until('volant_worker_restarts_total', { reason: 'crash' }, 3)
        await scraper.until('volant_workers', { state: 'ready' }, 3)
      })(),
    )
    const most = known + 20 + seen.total - asked + seen.unknown
    const last = await scraper.reaches(known + 20, most)
    const end = valueOf(await scraper.scrape(), 'http_requests_total', {})
    assert.ok(end - total >= last - known, 'the counter of the server has those of the histogram')
  } finally {
    for (const agent of agents) agent.destroy()
    await started.stop()
  }
})
