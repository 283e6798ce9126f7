// ws on node:http, as its README has it: several servers on one HTTP server, a broadcast to all but its sender by a loop
// over the clients, and pings to find broken connections.
import { createServer } from 'node:http'
import { WebSocket, WebSocketServer } from 'ws'
import { ran } from '../ran.mjs'

const programs = {
  sockets() {
    const options = { noServer: true, maxPayload: 1024 * 1024 }
    const echo = new WebSocketServer(options)
    const room = new WebSocketServer(options)

    echo.on('connection', (ws) => {
      watch(ws)
      ws.on('message', (data, isBinary) => {
        ran()
        ws.send(data, { binary: isBinary })
      })
    })

    room.on('connection', (ws) => {
      watch(ws)
      ws.on('message', (data, isBinary) => {
        ran()
        room.clients.forEach((client) => {
          if (client !== ws && client.readyState === WebSocket.OPEN) client.send(data, { binary: isBinary })
        })
      })
    })

    setInterval(() => {
      for (const { clients } of [echo, room]) clients.forEach(check)
    }, 30_000)
    return { '/ws': echo, '/room': room }
  },
}

function watch(ws) {
  ws.isAlive = true
  ws.on('error', console.error)
  ws.on('pong', heartbeat)
}

function heartbeat() {
  this.isAlive = true
}

function check(ws) {
  if (ws.isAlive === false) return ws.terminate()
  ws.isAlive = false
  ws.ping()
}

const servers = programs[process.env.PROGRAM]()

const server = createServer((request, response) => {
  response.writeHead(404).end()
})

server.on('upgrade', (request, socket, head) => {
  const { pathname } = new URL(request.url, 'ws://localhost')
  const wanted = servers[pathname]
  if (wanted === undefined) return socket.destroy()
  wanted.handleUpgrade(request, socket, head, (ws) => {
    wanted.emit('connection', ws, request)
  })
})

server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
