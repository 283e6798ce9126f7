// Starts nghttpd on a free port and reports the port. Its CPU time is that of the child of this process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { isSecure } from '../transport.mjs'

const { PORT, SCRATCH, CERT, KEY } = process.env
// nghttpd has no handlers, so the count of their runs is 0.
process.on('SIGUSR2', () => writeFileSync(join(SCRATCH, 'ran'), '0'))

writeFileSync(join(SCRATCH, 'hello.json'), JSON.stringify({ message: 'Hello World' }))
writeFileSync(join(SCRATCH, 'types'), 'application/json json\n')
const port = Number(PORT) || (await freePort())
const common = ['--htdocs', SCRATCH, '--mime-types-file', join(SCRATCH, 'types'), '--address', '127.0.0.1']
const args = isSecure ? [...common, String(port), KEY, CERT] : [...common, '--no-tls', String(port)]
// Debian installs nghttpd in a folder that is not in PATH of most users.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
const child = spawn('nghttpd', args, { stdio: 'ignore', env })
child.on('error', () => {
  console.error('Error: nghttpd is missing: the package nghttp2-server (apt-get install nghttp2-server)')
  process.exit(1)
})
child.on('exit', (code) => process.exit(code ?? 1))
process.on('SIGTERM', () => child.kill())
while (!(await accepts())) await new Promise((resolve) => setTimeout(resolve, 10))
console.log(`listening on ${port}`)

function accepts() {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: free } = server.address()
  server.close()
  await once(server, 'close')
  return free
}
