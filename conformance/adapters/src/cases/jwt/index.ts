/** Tokens of JWT, and servers that give the keys for them. */
import type { Kit } from '../../kit.ts'
import { tokensOfJwt } from './tokens.ts'
import { keySetsOfJwt } from './key-sets.ts'

export function jwtCases(kit: Kit): void {
  tokensOfJwt(kit)
  keySetsOfJwt(kit)
}
