/** A router of the case, as an app serves it by the protocol of tRPC 11. */
import type { Router } from 'volant/procedures'
import { trpc, type TRPCOptions } from 'volant/trpc'
import { Kit, type Live } from '../kit.ts'

export interface Shape {
  readonly message: string
  readonly data: { readonly code: string; readonly httpStatus: number; readonly error?: { code: string } }
}

export const kit = new Kit()

export async function served(
  tree: Router,
  run: (live: Live) => Promise<void>,
  options: TRPCOptions = {},
): Promise<void> {
  const app = kit.app()
  app.register(trpc(tree, options))
  await kit.serve(app, run)
}
