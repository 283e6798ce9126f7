/** Middleware, handlers, routers and apps written for connect and Express. */
export { connectOf, fromConnect } from './from-connect.ts'
export type { Connected, ConnectErrorMiddleware, ConnectMiddleware, ConnectStack } from './from-connect.ts'
export type { ConnectNext } from './run.ts'
