import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readReplies } from '../src/replies.ts'

const none = () => false
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'

test('complete replies are read in order', () => {
  const read = readReplies(`${ok}HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n${ok}`, none, false)
  assert.deepEqual(
    read.replies.map((reply) => [reply.status, reply.body]),
    [
      [200, 'hello'],
      [204, ''],
      [200, 'hello'],
    ],
  )
  assert.equal(read.fault, null)
  assert.equal(read.partial, false)
})

test('interim replies are counted apart', () => {
  const read = readReplies(`HTTP/1.1 100 Continue\r\n\r\n${ok}`, none, false)
  assert.equal(read.interim, 1)
  assert.equal(read.replies.length, 1)
})

test('chunked bodies are joined', () => {
  const read = readReplies(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n',
    none,
    false,
  )
  assert.equal(read.replies[0]?.body, 'hello')
  assert.equal(read.fault, null)
})

test('a reply to HEAD has no body', () => {
  const read = readReplies(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n${ok}`, (index) => index === 0, false)
  assert.deepEqual(
    read.replies.map((reply) => reply.body),
    ['', 'hello'],
  )
})

test('a body until close ends with the connection', () => {
  const text = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello'
  assert.equal(readReplies(text, none, false).partial, true)
  assert.deepEqual(
    readReplies(text, none, true).replies.map((reply) => [reply.body, reply.untilClose]),
    [['hello', true]],
  )
})

test('incomplete replies wait, and are faults after close', () => {
  for (const text of ['HTTP/1.1 2', 'HTTP/1.1 200 OK\r\nContent-Le', ok.slice(0, -1)]) {
    assert.deepEqual(
      { ...readReplies(text, none, false), replies: [] },
      { replies: [], interim: 0, partial: true, fault: null },
    )
    assert.match(readReplies(text, none, true).fault ?? '', /truncated/)
  }
})

for (const [name, text] of [
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello'],
  [
    'length beside chunked',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n'],
  ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello'],
  ['octets after the body', `${ok}hello\r\n\r\n`],
  ['a field without colon', 'HTTP/1.1 200 OK\r\nX\r\n\r\n'],
  ['a folded field', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
  ['a bare LF in a value', 'HTTP/1.1 200 OK\r\nX: a\nb\r\nContent-Length: 0\r\n\r\n'],
  ['a 204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n'],
  ['another version', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a body without any framing', 'HTTP/1.1 200 OK\r\n\r\nhello'],
  ['a chunk without CRLF', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhelo\r\n0\r\n\r\n'],
  ['a chunk size with 0x', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nhe\r\n0\r\n\r\n'],
  ['an unknown interim status', 'HTTP/1.1 199 X\r\n\r\n'],
] as const) {
  test(`a fault: ${name}`, () => assert.notEqual(readReplies(text, none, false).fault, null))
}
