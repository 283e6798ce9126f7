/** From CommonJS: `require` loads the package as it is. */
const { createApp } = require('volant')

const app = createApp()

app.get('/', () => 'Hello from CommonJS')

const listening = app.listen(Number(process.env.PORT ?? 3000))
listening.then(({ url }) => console.log(`Listening on ${url}`))

module.exports = { app, listening }
