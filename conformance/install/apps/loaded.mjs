/** Prints the files that `import 'volant'` loads. */
import { Session } from 'node:inspector'

const session = new Session()
session.connect()
const loaded = new Set()
session.on('Debugger.scriptParsed', ({ params: { url } }) => loaded.add(url))
// It reports what was loaded before, too.
session.post('Debugger.enable')
loaded.clear()
await import('volant')
for (const url of loaded) if (url.startsWith('file:')) console.log(url)
