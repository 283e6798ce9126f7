export { natsBus } from './nats-bus.ts'
export type { NatsBusConnection } from './nats-wire.ts'
