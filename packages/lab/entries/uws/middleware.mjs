// uWebSockets.js without a framework: it has no middleware, so the handler does their work.
import uws from 'uWebSockets.js'

const prefix = `${Math.random().toString(36).slice(2, 10)}-`
let last = 0

uws
  .App()
  .get('/none', (response) => {
    send(response, { message: 'Hello World' })
  })
  .get('/three', (response) => {
    const state = { message: 'Hello World' }
    response.writeHeader('X-Request-Id', prefix + (++last).toString(36))
    response.writeHeader('Access-Control-Allow-Origin', '*')
    send(response, { message: state.message })
  })
  .any('/*', (response) => {
    response.writeStatus('404 Not Found').end()
  })
  .listen('127.0.0.1', Number(process.env.PORT), (socket) => {
    if (!socket) throw new Error('cannot listen')
    console.log(`listening on ${uws.us_socket_local_port(socket)}`)
  })

function send(response, value) {
  response.writeHeader('Content-Type', 'application/json; charset=utf-8').end(JSON.stringify(value))
}
