/** Middlewares of connect and Express: what they read, write and are told. */
import type { Kit } from '../../kit.ts'
import { repliesOfConnect } from './replies.ts'
import { bodiesOfConnect } from './bodies.ts'
import { eventsOfConnect } from './events.ts'
import { requestsOfConnect } from './requests.ts'

export function connectCases(kit: Kit): void {
  repliesOfConnect(kit)
  bodiesOfConnect(kit)
  eventsOfConnect(kit)
  requestsOfConnect(kit)
}
