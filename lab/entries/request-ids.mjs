// Ids of requests for frameworks that leave it to the service how they are made: a counter behind what tells processes
// apart, as Volant and Fastify make them. A random UUID costs more.
const prefix = `${Math.random().toString(36).slice(2, 10)}-`
let last = 0

export function nextId() {
  last += 1
  return prefix + last.toString(36)
}
