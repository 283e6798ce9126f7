export { otel, type OtelOptions } from './otel.ts'
