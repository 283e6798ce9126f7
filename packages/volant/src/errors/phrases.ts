import { nodeHttp } from './node-http.ts'

/** The reason phrases by status (RFC 9110 §15). Node.js still has the older ones of 413 and 422. */
export const phrases: Readonly<Record<number, string | undefined>> = {
  ...nodeHttp.STATUS_CODES,
  413: 'Content Too Large',
  422: 'Unprocessable Content',
}
