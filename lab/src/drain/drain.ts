/** `npm run lab -- drain`: rolling stops of two instances under load, and which requests fail. */
import { Failure } from '../failure.ts'
import { mulberry32 } from '../random.ts'
import { count } from '../soak.ts'
import { Load, visit } from './client.ts'
import { freePort, Instance, type ServerName } from './instances.ts'
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
  const began = performance.now()
  for (let stop = 0; stop < stops; stop++) {
    await rest(between)
    const at = stop % instances.length
    const begun = performance.now()
    collect(ran, await (instances[at] as Instance).stop())
    const took = performance.now() - begun
    console.error(
      `stop ${stop + 1} of ${stops}: ${seconds(took)} s, ${count(sum(load))} failed of ${count(load.sent)}`,
    )
    instances[at] = await Instance.start(server, ports[at] as number, root)
  }
  await rest(between)
  load.stopped = true
  await Promise.all(visits)
  await proxy?.stop()
  for (const instance of instances) collect(ran, await instance.stop())

  const twice = ran.length - new Set(ran).size
  const failed = sum(load)
  const way = version === null ? 'direct' : `behind nginx ${version}`
  console.log(
    `${server}, ${way}: ${stops} stops in ${seconds(performance.now() - began)} s, ${clients} clients, seed ${seed}\n` +
      `  requests    ${count(load.sent)}, of which ${count(load.posts)} POST\n` +
      `  failed      ${count(failed)}\n` +
      [...load.failed].map(([kind, times]) => `    ${count(times).padStart(6)}  ${kind}\n`).join('') +
      `  run twice   ${count(twice)} POST`,
  )
  return failed === 0 && twice === 0
}

function sum({ failed }: Load): number {
  return [...failed.values()].reduce((one, other) => one + other, 0)
}

/** A list of all requests is too long for the arguments of one `push`. */
function collect(all: number[], more: readonly number[]): void {
  for (const one of more) all.push(one)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
