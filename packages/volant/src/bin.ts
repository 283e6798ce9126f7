#!/usr/bin/env node
/** The command `volant`. */
// Each command loads what it needs: a supervisor stays for as long as the service, and should be small.

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

const startUsage = `Usage: volant start MODULE [OPTIONS] [-- ARGUMENTS]

Runs an app in several processes, which share its ports:

  volant start ./dist/main.js --workers auto

MODULE           the file that you would run with node; ARGUMENTS are for it
--workers        how many processes run it; auto for as many as can run at once here. Default WEB_CONCURRENCY, else 1
--start-timeout  the time in which a worker has to listen, such as 30s, the default
--hang-timeout   the time after which a worker whose event loop is blocked is killed; default 30s
--max-memory     the memory past which a worker is replaced, such as 512mb; default none
--drain-delay    how long connections are accepted after SIGTERM, while /ready says 503; default 0s
--control        where /health, /ready and /workers of the supervisor are: a socket file, or HOST:PORT

SIGTERM and SIGINT: workers answer what is left, and end; at once on the second signal
SIGHUP: all workers are replaced, one after the other
`

const devUsage = `Usage: volant dev MODULE [OPTIONS] [-- ARGUMENTS]

Runs an app while you work on it, and another version of it after each change. The old one serves until the new one
does, and if that does not start:

  volant dev src/main.ts

MODULE      the file that you would run with node; ARGUMENTS are for it
--watch     a further folder whose changes count, beside that of the nearest package.json; may be given several times
--ignore    a file or folder whose changes do not count, such as one that the app writes; may be given several times
--no-types  do not check types. Else the TypeScript of the project does, where there is a tsconfig.json

node_modules, names that begin with a dot (other than .env), and dist, build, out, coverage, tmp, temp and logs beside
a package.json are not watched, unless MODULE is in there
`

const usages: Readonly<Record<string, string>> = {
  start: startUsage,
  dev: devUsage,
  types: typesUsage,
  cert: certUsage,
}
const usage = Object.values(usages).join('\n')
const help = ['--help', '-h']

const [command = 'help', ...args] = process.argv.slice(2)
const end = args.indexOf('--')
const own = end < 0 ? args : args.slice(0, end)
if (Object.hasOwn(usages, command) && own.some((each) => help.includes(each))) {
  process.stdout.write(usages[command] as string)
  process.exit(0)
}
if (command === 'start') process.exit(await (await import('./cluster/command.ts')).start(args, startUsage))
if (command === 'dev') process.exit(await (await import('./cluster/dev.ts')).dev(args, devUsage))
if (command === 'types') process.exit(await (await import('./generate/command.ts')).types(args, typesUsage))
if (command === 'cert') process.exit((await import('./tls/development.ts')).cert(args, certUsage))
if (['version', '--version', '-v'].includes(command)) {
  process.stdout.write(`${(await import('./worker/version.ts')).version}\n`)
  process.exit(0)
}
const asked = ['help', ...help].includes(command)
if (asked) process.stdout.write(usage)
else process.stderr.write(`volant: there is no command ${command}\n\n${usage}`)
process.exit(asked ? 0 : 1)
