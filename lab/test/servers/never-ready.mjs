// Runs, and never listens.
console.log('still starting')
setInterval(() => undefined, 1_000)
