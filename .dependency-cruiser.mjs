/**
 * Which room may import which: `npm run floors` reads these rules. A room is a folder of packages/volant/src. Types
 * count as values do, and there is no exception.
 */

/** The rooms from the ground up: a room imports only rooms before it. ARCHITECTURE.md says what is in them. */
export const rooms = [
  'errors',
  'report',
  'types',
  'options',
  'worker',
  'tls',
  'log',
  'bus',
  'routing',
  'schema',
  'request',
  'forms',
  'reply',
  'events',
  'contract',
  'context',
  'dispatch',
  'sockets',
  'middleware',
  'compression',
  'static',
  'rate-limit',
  'cookies',
  'auth',
  'session',
  'idempotency',
  'jwt',
  'guards',
  'tracing',
  'redis',
  'nats',
  'connect',
  'ws',
  'adapters',
  'testing',
  'app',
  'openapi',
  'plugins',
  'hints',
  'procedures',
  'generate',
  'cluster',
]

const src = '^packages/volant/src/'

const floors = rooms.map((room, at) => ({
  name: `${room}-imports-nothing-above-it`,
  comment: `${room}/ imports only ${at === 0 ? 'itself' : rooms.slice(0, at).join(', ')}. Move what both need to a room below, or pass it as an argument.`,
  severity: 'error',
  from: { path: `${src}${room}/` },
  // What is left are the rooms above it, the entries at the root, and the client.
  to: { path: src, pathNot: `${src}(?:${rooms.slice(0, at + 1).join('|')})/` },
}))

export default {
  forbidden: [
    ...floors,
    {
      name: 'the-client-stands-apart',
      comment: 'Browsers load the client: of the server it imports types/ alone.',
      severity: 'error',
      from: { path: `${src}client/` },
      to: { path: src, pathNot: `${src}(?:client|types)/` },
    },
    {
      name: 'the-engine-knows-no-framework',
      comment: 'packages/engine offers the Exchange contract; it does not know who uses it.',
      severity: 'error',
      from: { path: '^packages/engine/src/' },
      to: { path: ['^packages/volant/', '(?:^|/)volant$', '^volant/'] },
    },
    {
      name: 'what-is-installed-knows-no-proof',
      comment: 'Conformance, lab and examples use the packages, never the other way round.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      to: { path: ['^(?:conformance|lab|examples|scripts)/', '^@volant/(?:test-kit|conformance|lab)'] },
    },
    {
      name: 'no-orphan',
      comment: 'No file imports this one, and it imports none: delete it, or use it.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', orphan: true },
      to: {},
    },
    {
      name: 'no-cycle-of-files',
      comment:
        'Files that import each other are one file in two places, and one of them runs before the other is complete. This looks at compiled files, where imports of types are gone.',
      severity: 'error',
      from: { path: '^packages/[^/]+/dist/src/' },
      to: { circular: true },
    },
  ],
  options: {
    // TypeScript 7 has no API for JavaScript. swc reads the sources, with their imports of types.
    parser: 'swc',
    tsPreCompilationDeps: true,
    moduleSystems: ['es6'],
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'default'],
    },
  },
}
