/**
 * The module node:http. An `import` of its names reads all of them, among them some that Node.js loads undici for: 26 ms and
 * 7 MB of each process on Node.js 26.
 */

/** Gives the module, whose other names are not read. */
export const nodeHttp: typeof import('node:http') = process.getBuiltinModule('node:http')
