// Generated from crates/ring/layout.json by scripts/layout.mjs. Do not edit.

export const layoutHash = 535430435

/** Slices alternate between pages. At the start of a slice JavaScript copies out the requests of the last one that are unfinished. */
export const pages = 2

/** The size of the control block, which stands at offset 0. */
export const controlWords = 16

/** The size of a request descriptor: one cache line. */
export const requestWords = 16

/** How many descriptors a page has. */
export const maxSlice = 128

/** Words that a page has for spans: the parameters, header fields and peer addresses of its requests. */
export const spanWords = 12288

/** Bytes that a page has for heads and small bodies. The engine receives into them directly. */
export const arenaBytes = 393216

/** The most bytes that are received from one connection at once. */
export const receiveBytes = 65536

/** Complete bodies up to this size are delivered in the arena; a larger one is delivered as a Buffer of its own. */
export const inlineBodyBytes = 65536

/** The size of a reply record. */
export const recordWords = 8

/** JavaScript starts an overflow chunk after this many reply records. */
export const maxRecords = 2048

/** JavaScript starts an overflow chunk after this many bytes of reply heads and bodies. */
export const outBytes = 1048576

/** Bodies from this size on are handed over by reference and never copied into the reply memory. */
export const referenceBytes = 16384

/** A streamed reply asks its producer to wait when this many bytes are unsent. */
export const highWaterBytes = 65536

/** A parameter span has an offset and a length in bytes; the length is -1 for an absent optional parameter. */
export const parameterSpanWords = 2

/** A header field span has the name's offset, the name's length | known id << 16, the value's offset and the value's length. */
export const fieldSpanWords = 4

/** A peer address has its family (0 for none, 4 or 6), then the address in network byte order. */
export const peerWords = 5

/** Words of a page: descriptors, spans, arena. */
export const pageWords = 112640

/** Word offset of page 0; its descriptors come first. */
export const requestsOffset = 16

/** Word offset of the spans within a page. */
export const spansInPage = 2048

/** Word offset of the arena within a page. */
export const arenaInPage = 14336

/** Word offset of the reply records. */
export const recordsOffset = 225296

/** Word offset of the reply memory. */
export const outOffset = 241680

/** Size of the shared memory in bytes. */
export const totalBytes = 2015296

/** Reply records written since the last flush. The engine sets it to 0. */
export const controlRecords = 0
/** Bytes of reply memory in use. The engine sets it to 0. */
export const controlOut = 1
/** Entries of the reference list in use. The engine sets it to 0. */
export const controlReferences = 2
/** Overflow chunks that wait. Each is older than the records that `records` counts. The engine sets it to 0. */
export const controlOverflow = 3
/** Counts how often the engine has applied what was written. It wraps. */
export const controlSteps = 4

/** Exchange slot. */
export const requestSlot = 0
/** Generation of the slot. A reply that carries another generation is dropped. */
export const requestGeneration = 1
/** Route id, or a Miss (-1 not found, -2 method not allowed, -3 OPTIONS, -4 upgrade required). */
export const requestRoute = 2
/** Kind (8 bits) | method << 8 | flags << 16. */
export const requestKind = 3
/** Offset of the request head in bytes. */
export const requestHeadOffset = 4
/** Length of the request head in bytes. */
export const requestHeadLength = 5
/** Offset of the canonical path in bytes. */
export const requestPathOffset = 6
/** Length of the canonical path in bytes. */
export const requestPathLength = 7
/** Offset of the query in bytes. */
export const requestQueryOffset = 8
/** Length of the query in bytes. */
export const requestQueryLength = 9
/** Word index of the spans: parameters, then fields, then the peer address. */
export const requestSpans = 10
/** Parameters (8 bits) | fields << 8. */
export const requestCounts = 11
/** Offset of an inline body in bytes, or -1 - index for a body in the body list. A `chunk` and a `message` have their own offset here, a `closedSocket` that of its reason, a `bodyEnd` that of a block of trailer fields (as `headersLength` of a record has it), either of them 0 without one. An `abort` has 1 if the client closed only its sending side and may still read its reply. */
export const requestBodyOffset = 12
/** Length of the body in bytes, -1 if it is unknown. A `chunk` and a `message` have their own length here, a `closedSocket` that of its reason, a `bodyEnd` that of its trailer fields, an `abort` its reason, a `bodyFail` its status, a `dropped` the number of messages. */
export const requestBodyLength = 13
/** The methods that the path allows, as a bit set, for 405 and OPTIONS. A `closedSocket` has its code here. */
export const requestAllow = 14
/** Server id. */
export const requestServer = 15

/** Exchange slot; -1 for a `publish` that no socket makes. */
export const recordSlot = 0
/** Generation of the slot; the server id for a `publish` that no socket makes. */
export const recordGeneration = 1
/** Operation (8 bits) | content type << 8 | status << 16. */
export const recordOperation = 2
/** Offset of the header block in reply memory, in bytes. */
export const recordHeadersOffset = 3
/** Length of the header block in bytes. Each field has a u16 name length, a u16 value length (both little-endian), the name and the value (Latin-1). A `publish` has its topic here, as UTF-8 alone; a `finish` has the trailer fields of the reply. */
export const recordHeadersLength = 4
/** Offset of the body in reply memory, in bytes. A `start` has the low half of the declared length here; `read` and `credit` have the number of bytes. */
export const recordBodyOffset = 5
/** Length of the body in bytes. A `start` has the high half of the declared length here, -1 when it is unknown. */
export const recordBodyLength = 6
/** 1 + the body's index in the reference list when it is there, else 0. */
export const recordReference = 7

export const kindRequest = 0
export const kindChunk = 1
export const kindBodyEnd = 2
export const kindBodyFail = 3
export const kindAbort = 4
export const kindDrain = 5
export const kindClosed = 6
export const kindMessage = 7
export const kindClosedSocket = 8
export const kindDropped = 9

export const flagHttp10 = 1
export const flagBodyComplete = 2
export const flagBodyStream = 4
export const flagOtherTarget = 8
export const flagEncrypted = 16
export const flagHttp2 = 32

export const operationEnd = 1
export const operationStart = 2
export const operationData = 3
export const operationFinish = 4
export const operationDestroy = 5
export const operationRead = 6
export const operationCredit = 7
export const operationInform = 8
export const operationUpgrade = 9
export const operationMessage = 10
export const operationClose = 11
export const operationSubscribe = 12
export const operationUnsubscribe = 13
export const operationPublish = 14

export const operationFlagWantDrain = 1
export const operationFlagText = 2

export const messageFlagText = 1
export const messageFlagAscii = 2

export const abortClient = 0
export const abortTimeout = 1
export const abortShutdown = 2
export const abortError = 3
export const abortUpload = 4

/** Order of the limits in the array handed to `createServer`. */
export const limitOrder = ['headersTimeout', 'requestTimeout', 'handlerTimeout', 'sendTimeout', 'keepAliveTimeout', 'maxConnectionAge', 'maxConnections', 'maxInFlight', 'maxHeaderSize', 'maxHeaderLine', 'maxHeaders', 'maxUrlLength', 'maxParamLength', 'maxBodySize', 'maxBufferedBodies', 'maxBufferedReplies', 'maxPipelined', 'maxChunkExtensions', 'maxChunkExtensionsTotal', 'drainLimit', 'drainTimeout', 'drainIdle', 'shutdownTimeout', 'maxConnectionsPerAddress', 'tlsHandshakeTimeout', 'maxHandshakes', 'http2IdleTimeout', 'maxStreams', 'maxStreamResets'] as const

/** Header fields by the known id of a span; 0 is any other. */
export const fieldNames: readonly string[] = [
  '',
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'expect',
  'cookie',
  'authorization',
  'accept',
  'accept-encoding',
  'origin',
  'user-agent',
  'if-none-match',
  'if-modified-since',
  'x-request-id',
  'x-forwarded-for',
  'traceparent',
  'range',
  'upgrade',
  'accept-language',
  'referer',
  'cache-control',
  'content-encoding',
  'x-forwarded-proto',
  'x-forwarded-host',
  'tracestate',
  'access-control-request-method',
  'access-control-request-headers',
  'if-match',
  'if-range',
  'forwarded',
]

/** Content types by the id of a reply record; 0 means the header block has it, or there is none. */
export const contentTypes: readonly string[] = [
  '',
  'application/json; charset=utf-8',
  'text/plain; charset=utf-8',
  'text/html; charset=utf-8',
  'application/octet-stream',
  'application/problem+json; charset=utf-8',
  'image/svg+xml; charset=utf-8',
]
