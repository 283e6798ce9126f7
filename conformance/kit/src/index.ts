export { stderrLines } from './stderr.ts'
export { deferred, eventually, within } from './waiting.ts'
