/** Files as replies: what is sent of them, when they are not sent, and which names they may have. */
import { describe } from 'node:test'
import type { Kit } from '../../kit.ts'
import { filesAsReplies } from './replies.ts'
import { conditionsOfFiles } from './conditions.ts'
import { rangesOfFiles } from './ranges.ts'
import { pathsOfFiles } from './paths.ts'
import { downloadsOfFiles } from './downloads.ts'
import { descriptorsOfFiles } from './descriptors.ts'
import { folderOf } from './folder.ts'

export function files(kit: Kit): void {
  describe('ctx.file', () => {
    const folder = folderOf(kit)
    filesAsReplies(kit, folder)
    conditionsOfFiles(kit, folder)
    rangesOfFiles(folder)
    pathsOfFiles(kit, folder)
    downloadsOfFiles(kit, folder)
    descriptorsOfFiles(kit, folder)
  })
}
