/** Forms: what a handler gets of them, and what is left of one that breaks off, is malformed, or never ends. */
import type { Kit } from '../../kit.ts'
import { formsAreRead } from './reading.ts'
import { brokenForms } from './broken.ts'
import { limitsOfForms } from './limits.ts'

export function forms(kit: Kit): void {
  formsAreRead(kit)
  brokenForms(kit)
  limitsOfForms(kit)
}
