// Runs, and never listens.
console.log('still starting')
// A channel that is open keeps the process alive.
new BroadcastChannel('never ready')
