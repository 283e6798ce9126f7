import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  arenaInPage,
  flagBodyComplete,
  flagEncrypted,
  flagHttp10,
  flagHttp2,
  flagOtherTarget,
  kindRequest,
  requestHeadLength,
  requestHeadOffset,
  requestKind,
  requestPathLength,
  requestPathOffset,
  requestsOffset,
  requestSpans,
  requestWords,
  spansInPage,
} from '../src/generated/layout.ts'
import { bytes, words } from '../src/memory.ts'
import { NativeExchange, nextSlice } from '../src/native-exchange.ts'

/** Writes the first descriptor of the first page by hand: a request without fields, by an engine that sets `flags`. */
function exchangeWith(flags: number, method = 0): NativeExchange {
  words.fill(0, requestsOffset, requestsOffset + requestWords)
  const arena = (requestsOffset + arenaInPage) * 4
  const head = bytes.write('PURGE /path HTTP/1.1\r\n\r\n', arena, 'latin1')
  words[requestsOffset + requestKind] = kindRequest | (method << 8) | (flags << 16)
  words[requestsOffset + requestHeadOffset] = arena
  words[requestsOffset + requestHeadLength] = head
  words[requestsOffset + requestPathOffset] = arena + 6
  words[requestsOffset + requestPathLength] = 5
  words[requestsOffset + requestSpans] = requestsOffset + spansInPage
  return new NativeExchange(requestsOffset, 0)
}

test('the flags of a descriptor give the version, and say whether the connection is encrypted', () => {
  const rows: [flags: number, version: string, encrypted: boolean][] = [
    [0, '1.1', false],
    [flagHttp10, '1.0', false],
    [flagHttp2, '2', false],
    [flagEncrypted, '1.1', true],
    [flagHttp10 | flagEncrypted, '1.0', true],
    [flagHttp2 | flagEncrypted, '2', true],
    [flagBodyComplete | flagOtherTarget, '1.1', false],
  ]
  for (const [flags, version, encrypted] of rows) {
    // The second method is one that only the request line names; its index uses the bits next to the flags.
    for (const [index, name] of [
      [2, 'POST'],
      [0xff, 'PURGE'],
    ] as const) {
      const exchange = exchangeWith(flags, index)
      const seen = () => [exchange.httpVersion, exchange.encrypted, exchange.method]
      assert.deepEqual(seen(), [version, encrypted, name])
      // The page is reused after it was copied.
      exchange.park()
      nextSlice()
      exchangeWith(0)
      assert.deepEqual(seen(), [version, encrypted, name])
    }
  }
})
