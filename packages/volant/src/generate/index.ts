/** `volant/generate` makes files from the contracts of an API. */
export { clientFile, type ClientFile } from './client-file.ts'
