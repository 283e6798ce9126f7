// uWebSockets.js without a framework.
import uws from 'uWebSockets.js'

uws
  .App()
  .get('/json', (response) => {
    response
      .writeHeader('Content-Type', 'application/json; charset=utf-8')
      .end(JSON.stringify({ message: 'Hello World' }))
  })
  .any('/*', (response) => {
    response.writeStatus('404 Not Found').end()
  })
  .listen('127.0.0.1', Number(process.env.PORT), (socket) => {
    if (!socket) throw new Error('cannot listen')
    console.log(`listening on ${uws.us_socket_local_port(socket)}`)
  })
