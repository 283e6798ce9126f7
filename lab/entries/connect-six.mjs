// The program `connect`: the six middlewares of veloze-benchmarks in its order, from the packages of each entry.
const names = ['cors', 'dns-prefetch-control', 'frameguard', 'hide-powered-by', 'hsts', 'x-xss-protection']

/** `bring` is the entry's own `import`. */
export const connectSix = (bring) => Promise.all(names.map(async (name) => (await bring(name)).default()))
