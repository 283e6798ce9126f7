// The parent of Bun's guide "Start a cluster of HTTP servers", which also starts again what dies. On SIGHUP it replaces
// one worker after the other: the new one listens before the old one is told to stop.
const grace = 15_000
const workers = new Set()
let stopping = false

function start() {
  return new Promise((resolve) => {
    const child = Bun.spawn({
      cmd: [process.execPath, new URL('bun-worker.mjs', import.meta.url).pathname],
      stdio: ['ignore', 'inherit', 'inherit'],
      env: process.env,
      ipc: (message) => message === 'ready' && resolve(child),
      onExit: () => {
        resolve(null)
        if (workers.delete(child) && !stopping) void start()
      },
    })
    workers.add(child)
  })
}

async function end(child) {
  workers.delete(child)
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), grace)
  await child.exited
  clearTimeout(timer)
}

for (let left = Number(process.env.WORKERS); left > 0; left--) void start()

let rolls = Promise.resolve()
process.on('SIGHUP', () => {
  rolls = rolls.then(async () => {
    const before = [...workers]
    for (const old of before) {
      if ((await start()) === null) return
      await end(old)
    }
  })
})
process.on('SIGTERM', async () => {
  stopping = true
  await Promise.all([...workers].map(end))
  process.exit(0)
})
