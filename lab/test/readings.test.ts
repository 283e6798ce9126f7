import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { cpuBetween, descendants, readCpu, readMemory, familyOf } from '../src/readings.ts'

const skip = process.platform === 'linux' ? false : 'needs /proc'

/** Starts a script that prints a line when its work is done and then stays. */
async function settled(script: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', `${script}; setInterval(() => {}, 1e6)`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

/** Until then it is a descendant, and its memory counts. */
async function gone(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill()
  await exit
}

/** 300 ms of CPU time, however long that takes on a busy machine; a process that only starts needs far less. */
const spin = `const used = (since) => { const { user, system } = process.cpuUsage(since); return user + system }; const begin = process.cpuUsage(); while (used(begin) < 300e3); console.log('done')`

test('the CPU time of a process is what it used', { skip }, async () => {
  const before = process.cpuUsage()
  const first = readCpu(process.pid)
  const used = () => {
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  while (used() < 300_000);
  const { running } = cpuBetween(first, readCpu(process.pid))
  const whole = used()
  assert.ok(Math.abs(running / 1e3 - whole) < 40_000, `${running / 1e3} against ${whole} µs`)
})

test('children count, while they live and after they were waited for', { skip }, async () => {
  const live = await settled(`
    const child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(spin)}], { stdio: ['ignore', 1, 2] })`)
  const waited = await settled(
    `require('child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(spin)}]); console.log('done')`,
  )
  try {
    assert.equal(descendants(waited.pid as number).length, 0)
    const nothing = { threads: new Map(), ticks: 0 }
    for (const parent of [live, waited]) {
      const { running } = cpuBetween(nothing, readCpu(parent.pid as number))
      assert.ok(running > 250e6, `${running} ns`)
    }
  } finally {
    await Promise.all([gone(live), gone(waited)])
  }
})

test('worker threads count', { skip }, async () => {
  const script = `const { Worker } = require('worker_threads'); new Worker(${JSON.stringify(spin.replace('console.log', `require('worker_threads').parentPort.postMessage`))}, { eval: true }).on('message', console.log)`
  const child = await settled(script)
  try {
    const { running } = cpuBetween({ threads: new Map(), ticks: 0 }, readCpu(child.pid as number))
    assert.ok(running > 250e6, `${running} ns`)
  } finally {
    await gone(child)
  }
})

test('a process that left its parent counts by the mark in its environment', { skip }, async () => {
  const mark = `SCRATCH=/tmp/lab-${process.pid}-${randomUUID()}`
  const [name, value] = mark.split('=') as [string, string]
  // The shell ends at once, and its child belongs to nobody.
  const shell = spawn('sh', ['-c', 'sleep 30 & echo $!'], {
    env: { ...process.env, [name]: value },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = (await once(shell.stdout, 'data')) as [Buffer]
  const orphan = Number(String(printed))
  try {
    if (shell.exitCode === null) await once(shell, 'exit')
    assert.ok(!familyOf(shell.pid as number).includes(orphan))
    assert.ok(familyOf(shell.pid as number, mark).includes(orphan))
  } finally {
    process.kill(orphan)
  }
})

test('a time that the exact counters lost is taken from the ticks', () => {
  const before = { threads: new Map([['1/1', { running: 5e6, waiting: 1e6 }]]), ticks: 10e6 }
  const same = { threads: new Map([['1/1', { running: 105e6, waiting: 4e6 }]]), ticks: 120e6 }
  assert.deepEqual(cpuBetween(before, same), { running: 100e6, waiting: 3e6 })
  const lost = { ...same, ticks: 510e6 }
  assert.deepEqual(cpuBetween(before, lost), { running: 500e6, waiting: 3e6 })
})

test('memory is the resident set', { skip }, () => {
  const rss = process.memoryUsage.rss()
  assert.ok(Math.abs(readMemory(process.pid) - rss) < 0.2 * rss)
})

test('a process that is gone counts as nothing', { skip }, async () => {
  const child = spawn(process.execPath, ['-e', ''])
  const pid = child.pid as number
  await once(child, 'close')
  assert.equal(readMemory(pid), 0)
  assert.equal(readCpu(pid).threads.size, 0)
})
