import express from 'express'

const app = express()
app.get('/json', (request, response) => {
  response.json({ message: 'Hello World' })
})
const server = app.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
