/** The entry `volant/debug`: routes that show what runs. */
export { debug, type DebugOptions } from './plugins/debug.ts'
