// Run by Bun. The route is a function: a Response in its place would be answered without JavaScript.
const server = Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  routes: { '/json': { GET: () => Response.json({ message: 'Hello World' }) } },
  fetch: () => new Response(null, { status: 404 }),
})
console.log(`listening on ${server.port}`)
