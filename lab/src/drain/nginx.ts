/** nginx before the instances, with keep-alive to them, as docs/guide/15-deployment.md has it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../failure.ts'

/** `1.22.1`; null where nginx is not installed. It lies outside the path of most users. */
export function nginxVersion(): string | null {
  const { stderr, error } = spawnSync('nginx', ['-v'], { encoding: 'utf8', env: environment() })
  return error === undefined ? (/nginx\/(\S+)/.exec(stderr)?.[1] ?? null) : null
}

export interface Proxy {
  readonly port: number
  stop(): Promise<void>
}

export async function startNginx(port: number, upstream: readonly number[]): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'lab-nginx-'))
  writeFileSync(join(folder, 'nginx.conf'), configuration(port, upstream))
  // One process alone, so that its pid is all there is to end.
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf'], {
    stdio: ['ignore', 2, 2],
    env: environment(),
  })
  const kill = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', kill)
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    process.off('exit', kill)
    rmSync(folder, { recursive: true, force: true })
  }
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (child.exitCode !== null || tries === 500) {
      await stop()
      throw new Failure('nginx did not start: what it said is above')
    }
    await sleep(10)
  }
  return { port, stop }
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy())
    socket.on('error', () => resolve(false)).on('close', () => resolve(true))
  })
}

/**
 * `max_fails=0`: otherwise an instance that refused a connection while it restarted is left out for 10 s, and when the
 * other one stops before that there is none left.
 */
function configuration(port: number, upstream: readonly number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
  upstream app {
    ${upstream.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join(' ')}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000000;
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`
}
