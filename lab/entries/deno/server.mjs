// Deno.serve and Deno.upgradeWebSocket. It has no topics: the members of the room are a Set.
import process from 'node:process'
import { ran } from '../ran.mjs'

const programs = {
  sockets() {
    const members = new Set()

    const echo = (socket) => {
      socket.onmessage = ({ data }) => {
        ran()
        socket.send(data)
      }
    }

    const room = (socket) => {
      socket.onopen = () => members.add(socket)
      socket.onclose = () => members.delete(socket)
      socket.onmessage = ({ data }) => {
        ran()
        for (const member of members) {
          if (member !== socket && member.readyState === WebSocket.OPEN) member.send(data)
        }
      }
    }

    return { '/ws': echo, '/room': room }
  },
}

const routes = programs[process.env.PROGRAM]()

const options = {
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  onListen: ({ port }) => console.log(`listening on ${port}`),
}

Deno.serve(options, (request) => {
  const route = routes[new URL(request.url).pathname]
  if (route === undefined) return new Response(null, { status: 404 })
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
    return new Response(null, { status: 426 })
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 60 })
  socket.binaryType = 'arraybuffer'
  route(socket)
  return response
})
