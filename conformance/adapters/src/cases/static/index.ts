/** Folders of files, served by `app.static`. */
import type { Kit } from '../../kit.ts'
import { staticReplies } from './replies.ts'
import { staticRouting } from './routing.ts'
import { staticFallbacks } from './fallbacks.ts'
import { staticChanges } from './changes.ts'
import { staticCompression } from './compression.ts'
import { openFiles } from './open-files.ts'

export function staticFolders(kit: Kit): void {
  staticReplies(kit)
  staticRouting(kit)
  staticFallbacks(kit)
  staticCompression(kit)
  staticChanges(kit)
  openFiles(kit)
}
