// node:cluster as its documents show it: the primary forks, forks again what dies, and hands connections out in turn. On
// SIGHUP it replaces one worker after the other: the new one listens before the old one is told to close, and one that
// does not end in time is killed, as the documents of `worker.disconnect()` advise. SERVER is the file of the workers.
import cluster from 'node:cluster'
import { once } from 'node:events'

/** What a worker may take for its last replies, in ms. */
const grace = 15_000

if (cluster.isPrimary) primary()
else {
  const { close } = await import(`./${process.env.SERVER}.mjs`)
  process.on('message', (message) => {
    if (message === 'close') void close().then(() => process.disconnect())
  })
  // Ctrl-C reaches the whole group; the primary decides.
  process.on('SIGINT', () => {})
}

function primary() {
  const leaving = new Set()
  let stopping = false
  for (let left = Number(process.env.WORKERS); left > 0; left--) cluster.fork()

  cluster.on('exit', (worker) => {
    if (!leaving.delete(worker) && !stopping) cluster.fork()
  })

  const close = async (worker) => {
    leaving.add(worker)
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), grace)
    const ended = once(worker, 'exit')
    if (worker.isConnected()) worker.send('close')
    await ended
    clearTimeout(timer)
  }

  let rolls = Promise.resolve()
  process.on('SIGHUP', () => {
    rolls = rolls.then(async () => {
      for (const old of Object.values(cluster.workers)) {
        const fresh = cluster.fork()
        const isNew = await Promise.race([
          once(fresh, 'listening').then(() => true),
          once(fresh, 'exit').then(() => false),
        ])
        if (!isNew) return
        await close(old)
      }
    })
  })
  process.on('SIGTERM', async () => {
    stopping = true
    await Promise.all(Object.values(cluster.workers).map(close))
    process.exit(0)
  })
}
