/** HTTP/2 from the view of handlers and of clients, over TLS and by prior knowledge. */
import { describe } from 'node:test'
import type { Kit } from '../../kit.ts'
import { http2Connections } from './connections.ts'
import { http2Requests } from './requests.ts'
import { http2Resets } from './resets.ts'
import { http2Server } from './server.ts'
import { http2Streams } from './streams.ts'
import { http2TimeLimitsOf } from './time-limits.ts'
import { http2LateBodies, http2UnreadBodies } from './unread-bodies.ts'

const ways = ['TLS', 'prior knowledge'] as const

export function http2Cases(kit: Kit): void {
  for (const over of ways) {
    describe(`HTTP/2 by ${over}`, kit.needs('http2'), () => {
      const server = http2Server(over)
      http2Requests(kit, server)
      http2Streams(kit, server)
      http2Resets(kit, server)
      http2UnreadBodies(kit, server)
      http2Connections(kit, server)
    })
  }
}

/** What a server of HTTP/2 does after a time. */
export function http2TimeLimits(kit: Kit): void {
  for (const over of ways) {
    describe(`HTTP/2 by ${over}`, kit.needs('http2'), () => {
      const server = http2Server(over)
      http2TimeLimitsOf(kit, server)
      http2LateBodies(kit, server)
    })
  }
}
