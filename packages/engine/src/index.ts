// The types name Node's own (Buffer, Readable): without this they are unknown to an app whose tsconfig.json has no `types`.
/// <reference types="node" preserve="true" />
export * from './exchange.ts'
export { bag, combine, wideBag } from './fields.ts'
export { nativeEngine } from './native.ts'
export { packedList, packHeaders, unpackHeaders } from './packed-headers.ts'
