// uWebSockets.js without a framework.
import uws from 'uWebSockets.js'
import { bearer, findUser, params } from '../users-service.mjs'

const type = 'application/json; charset=utf-8'

uws
  .App()
  .get('/api/users/:id', (response, request) => {
    if (request.getHeader('authorization') !== bearer) {
      return refuse(response, '401 Unauthorized', { error: 'Unauthorized' })
    }
    const { success, data } = params.safeParse({ id: request.getParameter(0) })
    if (!success) return refuse(response, '400 Bad Request', { error: 'id must be a whole number' })
    const user = findUser.get(Number(data.id))
    if (!user) return refuse(response, '404 Not Found', { error: 'User not found' })
    response.writeHeader('Content-Type', type).end(JSON.stringify({ user }))
  })
  .any('/*', (response) => {
    refuse(response, '404 Not Found', { error: 'Not found' })
  })
  .listen('127.0.0.1', Number(process.env.PORT), (socket) => {
    if (!socket) throw new Error('cannot listen')
    console.log(`listening on ${uws.us_socket_local_port(socket)}`)
  })

function refuse(response, status, value) {
  response.writeStatus(status).writeHeader('Content-Type', type).end(JSON.stringify(value))
}
