/** `npm run lab -- drain`: rolling stops of two instances under load, and which requests fail. */
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { Failure } from '../failure.ts'
import { mulberry32 } from '../random.ts'
import { count } from '../soak.ts'
import { Load, visit } from './client.ts'
import { Instance, type ServerName } from './instances.ts'
import { nginxVersion, startNginx } from './nginx.ts'

export interface DrainMethod {
  readonly server: ServerName
  /** A checkout whose packages are built. */
  readonly root: string
  readonly behind: 'nginx' | null
  readonly stops: number
  readonly clients: number
  readonly seed: number
}

/** How long an instance serves before the next is stopped, in ms. */
const between = 300

/** Rolls and prints what failed; true when nothing did. */
export async function drain({ server, root, behind, stops, clients, seed }: DrainMethod): Promise<boolean> {
  const version = behind === null ? null : nginxVersion()
  if (behind !== null && version === null)
    throw new Failure('nginx is not installed: apt-get install nginx-light, or use --direct', 2)
  const ports = [await freePort(), await freePort()]
  const instances = await Promise.all(ports.map((port) => Instance.start(server, port, root)))
  const proxy = behind === null ? null : await startNginx(await freePort(), ports)
  const load = new Load(proxy === null ? ports : [proxy.port])
  const random = mulberry32(seed)
  const visits = Array.from({ length: clients }, () => visit(load, mulberry32(random() * 2 ** 32)))
  const ran: number[] = []
  let killed = 0
  const note = (posts: readonly number[] | null) => {
    if (posts === null) killed++
    // A list of all is too long for the arguments of one `push`.
    for (const post of posts ?? []) ran.push(post)
  }
  const began = performance.now()
  try {
    for (let stop = 0; stop < stops; stop++) {
      await sleep(between)
      const at = stop % instances.length
      const begun = performance.now()
      note(await (instances[at] as Instance).stop())
      const took = performance.now() - begun
      console.error(
        `stop ${stop + 1} of ${stops}: ${seconds(took)} s, ${count(sum(load))} failed of ${count(load.sent)}`,
      )
      instances[at] = await Instance.start(server, ports[at] as number, root)
    }
    await sleep(between)
  } finally {
    // Also after a failure: what still runs would keep the lab from ending.
    load.stopped = true
    await Promise.all(visits)
    await proxy?.stop()
    for (const instance of instances) note(await instance.stop())
  }

  const twice = ran.length - new Set(ran).size
  const failed = sum(load)
  const way = version === null ? 'direct' : `behind nginx ${version}`
  console.log(
    `${server}, ${way}: ${stops} stops in ${seconds(performance.now() - began)} s, ${clients} clients, seed ${seed}\n` +
      `  requests    ${count(load.sent)}, of which ${count(load.posts)} POST\n` +
      `  failed      ${count(failed)}\n` +
      [...load.failed].map(([kind, times]) => `    ${count(times).padStart(6)}  ${kind}\n`).join('') +
      `  run twice   ${count(twice)} POST` +
      (killed === 0 ? '' : `\n  killed      ${killed}, since they did not end in 15 s`),
  )
  return failed + twice + killed === 0
}

function sum({ failed }: Load): number {
  return [...failed.values()].reduce((one, other) => one + other, 0)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
