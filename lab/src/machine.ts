/** What a number was measured on. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { delimiter, join } from 'node:path'
import { rootFolder } from './folders.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  readonly kernel: string
  /** The frequency governor; null where there is none to be seen, as on most virtual machines. */
  readonly governor: string | null
  readonly node: string
  readonly wrk: string | null
  /** Null if the program is missing. Runs from before these fields were added do not have them. */
  readonly h2load?: string | null
  readonly nghttpd?: string | null
  readonly openssl?: string | null
  /** The checkout's commit, with `+` when files differ from it; null outside a checkout. */
  readonly commit: string | null
}

export function describeMachine(): Machine {
  const commit = output('git', ['-C', rootFolder, 'rev-parse', 'HEAD'])
  const changed = output('git', ['-C', rootFolder, 'status', '--porcelain'])
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: `${process.platform} ${release()} ${process.arch}`,
    governor: governor(),
    node: process.version,
    wrk: versionIn(output('wrk', ['-v']), /^wrk (\S+)/m),
    h2load: versionIn(output('h2load', ['--version']), /^h2load nghttp2\/(\S+)/m),
    nghttpd: versionIn(output('nghttpd', ['--version']), /^nghttpd nghttp2\/(\S+)/m),
    openssl: versionIn(output('openssl', ['version']), /^OpenSSL (\S+)/m),
    commit: commit && commit + (changed ? '+' : ''),
  }
}

/** True when a program of this name is on the path. */
export function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** What a command prints; null when it is missing. wrk exits with 1 after printing its version, so the code is ignored. */
function output(command: string, args: string[]): string | null {
  // Debian installs servers such as nghttpd in a folder that is not in PATH of most users.
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin` }
  const result = spawnSync(command, args, { encoding: 'utf8', env })
  return result.error ? null : result.stdout.trim()
}

function versionIn(text: string | null, pattern: RegExp): string | null {
  return pattern.exec(text ?? '')?.[1] ?? null
}

function governor(): string | null {
  try {
    return readFileSync('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor', 'utf8').trim()
  } catch {
    return null
  }
}
