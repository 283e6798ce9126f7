#!/usr/bin/env node
/** The command `volant`. */
import { types } from './generate/command.ts'
import { cert } from './tls/development.ts'

const typesUsage = `Usage: volant types MODULE[#EXPORT] --out FILE [--check]

Writes the types of an API and the table of its routes, for clients that do not see the server's source:

  volant types ./dist/app.js --out client/api.ts
  volant types ./dist/contracts.js#api --out client/api.d.ts

MODULE   JavaScript that exports an app with app.expose(…), or contracts by name; it must not listen by itself
EXPORT   the name of that export; default app
--out    a .ts file, or a .d.ts file, which gets a .js file beside it
--check  writes nothing, and fails where FILE is not what would be written
`

const certUsage = `Usage: volant cert [NAME…] [--out FOLDER]

Writes a certificate for development, and says how browsers of this machine are told to trust its authority:

  volant cert
  volant cert shop.test '*.shop.test' --out certificates

NAME   a further name that ends in .localhost, .local or .test, or a loopback address; localhost, 127.0.0.1 and
       ::1 are always there, and so are the names of the certificate before: delete cert.pem and key.pem to drop them
--out  the folder; default .cert. What the command made and is still valid is kept. It fails where it would
       overwrite other files

The authority can sign for no other names, and only for servers. Its key and that of the certificate are for you
alone to read.
`

const usage = `${typesUsage}
${certUsage}`

const [command, ...args] = process.argv.slice(2)
if (command === 'types') process.exit(await types(args, typesUsage))
if (command === 'cert') process.exit(cert(args, certUsage))
const asked = command === undefined || ['help', '--help', '-h'].includes(command)
if (asked) process.stdout.write(usage)
else process.stderr.write(`volant: there is no command ${command}\n\n${usage}`)
process.exit(asked ? 0 : 1)
