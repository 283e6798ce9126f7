import { type Case, Group } from '../case.ts'
import { chunked } from './chunked.ts'
import { connection } from './connection.ts'
import { contentLength } from './content-length.ts'
import { expectation } from './expect.ts'
import { h1spec } from './h1spec.ts'
import { limits } from './limits.ts'
import { path } from './path.ts'
import { pipeline } from './pipeline.ts'
import { reply } from './reply.ts'
import { requestLine } from './request-line.ts'
import { smuggling } from './smuggling.ts'
import { target } from './target.ts'
import { trailers } from './trailers.ts'
import { transferEncoding } from './transfer-encoding.ts'
import { unread } from './unread.ts'

/** Every case, in the order a request is read. */
export const cases: readonly Case[] = [
  requestLine,
  target,
  path,
  new Group('host', 'RFC 9112 §3.2').corpus(),
  new Group('header', 'RFC 9110 §5.5').corpus(),
  contentLength,
  transferEncoding,
  chunked,
  trailers,
  expectation,
  pipeline,
  unread,
  connection,
  reply,
  limits,
  smuggling,
  h1spec,
].flatMap((group) => group.cases)
