// uWebSockets.js without a framework.
import uws from 'uWebSockets.js'

uws
  .App()
  .get('/hi/:name', (response, request) => {
    send(response, { hi: decodeURIComponent(request.getParameter(0)) })
  })
  .get('/static', (response) => {
    send(response, { hi: 'Ada' })
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
