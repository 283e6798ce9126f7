// The types name those of Node.js (Buffer, Readable), which an app whose tsconfig.json has no `types` would not know.
/// <reference types="node" preserve="true" />
export * from './exchange.ts'
export { addressOf } from './address.ts'
export type { ServerSocket, SocketEvents, SocketRoute } from './socket.ts'
export type { TlsCertificate, TlsConfig, TlsInfo, TlsVersion } from './tls.ts'
export { bag, combine, wideBag } from './fields.ts'
export type { CountedLimit, CountTable, TextSealer } from './load.ts'
export { engineClock, nativeEngine } from './native.ts'
export { nativeSealer } from './native-sealer.ts'
export { createTable, sharedTable } from './native-table.ts'
export { packedList, packedText, packHeaders, releaseHeaders, unpackHeaders } from './packed-headers.ts'
