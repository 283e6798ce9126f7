/** The clients that have a listener for errors of ours. */
const heard = new WeakSet<object>()

/** Keeps an error of a client from ending the process: what it means comes out elsewhere. */
export function hear(client: { on(event: 'error', listener: () => void): unknown }): void {
  if (heard.has(client)) return
  heard.add(client)
  client.on('error', () => {})
}
