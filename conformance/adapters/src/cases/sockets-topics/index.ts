/** Topics of WebSockets. */
import type { Kit } from '../../kit.ts'
import { subscribers } from './subscribers.ts'
import { publishing } from './publishing.ts'

export function socketTopics(kit: Kit): void {
  subscribers(kit)
  publishing(kit)
}
