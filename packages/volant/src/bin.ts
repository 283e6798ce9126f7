#!/usr/bin/env node
/** The command `volant`. */
import { types } from './generate/command.ts'

const usage = `Usage: volant types MODULE[#EXPORT] --out FILE [--check]

Writes the types of an API and the table of its routes, for clients that do not see the server's source:

  volant types ./dist/app.js --out client/api.ts
  volant types ./dist/contracts.js#api --out client/api.d.ts

MODULE   JavaScript that exports an app with app.expose(…), or contracts by name; it must not listen by itself
EXPORT   the name of that export; default app
--out    a .ts file, or a .d.ts file, which gets a .js file beside it
--check  writes nothing, and fails where FILE is not what would be written
`

const [command, ...args] = process.argv.slice(2)
if (command === 'types') process.exit(await types(args, usage))
const asked = command === undefined || ['help', '--help', '-h'].includes(command)
if (asked) process.stdout.write(usage)
else process.stderr.write(`volant: there is no command ${command}\n\n${usage}`)
process.exit(asked ? 0 : 1)
