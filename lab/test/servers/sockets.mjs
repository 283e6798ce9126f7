// WebSockets as the scenarios want them, and with CHEAT in one way that is not. It begins at the 300th message, when a
// check would be over.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { ran } from '../../entries/ran.mjs'

const { CHEAT = '' } = process.env
const begin = 300
const cheats = {
  'wrong byte': (ws, data, isBinary) => {
    data[data.length - 1] ^= 1
    ws.send(data, { binary: isBinary })
  },
  shorter: (ws, data, isBinary) => ws.send(data.subarray(1), { binary: isBinary }),
  'another type': (ws, data, isBinary) => ws.send(data, { binary: !isBinary }),
  masked: (ws, data, isBinary) => ws.send(data, { binary: isBinary, mask: true }),
  compressed: (ws, data) => raw(ws, 0xc1, data),
  'an older one': (ws, data, isBinary) => ws.send(older, { binary: isBinary }),
  twice: (ws, data, isBinary) => {
    ws.send(data, { binary: isBinary })
    ws.send(data, { binary: isBinary })
  },
  dropped: () => undefined,
  closed: (ws) => ws.close(1001),
  reset: (ws) => ws.terminate(),
}
let count = 0
let older = Buffer.alloc(0)
const members = new Set()
const server = new WebSocketServer({ noServer: true, perMessageDeflate: CHEAT === 'extension' })

const routes = {
  '/ws'(ws) {
    ws.on('message', (data, isBinary) => {
      count += 1
      if (CHEAT !== 'not handled' || count < begin) ran()
      const cheat = count >= begin && cheats[CHEAT]
      if (cheat) cheat(ws, Buffer.from(data), isBinary)
      else ws.send(data, { binary: isBinary })
      older = Buffer.from(data)
    })
  },
  '/room'(ws) {
    members.add(ws)
    ws.on('close', () => members.delete(ws))
    ws.on('message', (data, isBinary) => {
      ran()
      count += 1
      for (const member of members) {
        const own = member === ws
        if (own !== (count >= 20 && CHEAT === 'to itself')) continue
        if (count >= 20 && CHEAT === 'not to all' && member === [...members][0]) continue
        member.send(data, { binary: isBinary })
        if (count >= 20 && CHEAT === 'once more' && member === [...members][0])
          member.send(data, { binary: isBinary })
      }
    })
  },
}

function raw(ws, first, data) {
  ws._socket.write(Buffer.concat([Buffer.from([first, 126, data.length >> 8, data.length & 255]), data]))
}

const http = createServer((request, response) => response.writeHead(404).end())
http.on('upgrade', (request, socket, head) => {
  const route = CHEAT === 'no router' ? routes['/ws'] : routes[request.url]
  if (route === undefined) return socket.destroy()
  if (CHEAT === 'wrong key') {
    const accept = createHash('sha1').update('another').digest('base64')
    return socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
  }
  server.handleUpgrade(request, socket, head, route)
})
http.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(`listening on ${http.address().port}`))
