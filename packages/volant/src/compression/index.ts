/** The entry `volant/compress`: bodies in content codings. */
export { compress } from './compress.ts'
export type { CompressOptions } from './options.ts'
export { decompress, type DecompressOptions } from './decompress.ts'
