export * from './exchange.ts'
export { Bag, combine } from './fields.ts'
export { nativeEngine } from './native.ts'
