/** `volant/generate`: files made from the contracts of an API. */
export { clientFile, type ClientFile } from './client-file.ts'
