/** What libraries written for `ws` take: its server and its WebSocket, made of the WebSockets of `app.ws`. */
export {
  createSocketServer,
  type Bridged,
  type SocketServer,
  type SocketServerHooks,
} from './socket-server.ts'
export type { UpgradeRequest } from './upgrade-request.ts'
