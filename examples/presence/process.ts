/** The app in a process of its own, for the test: tells its parent where it listens. */
const { app, url } = await import('./main.ts')
process.send?.(url)
process.once('message', () => void app.close({ drainIdle: 0 }).then(() => process.disconnect?.()))
