/** An app, and a middleware that leaves its name. */
import type { Context, Next } from 'volant'
import { Kit } from '../kit.ts'

/** A middleware that leaves its name in a header of the reply, in the order they ran. */
export const mark = (name: string) => (ctx: Context, next: Next) => {
  ctx.append('x-ran', name)
  return next()
}

export const kit = new Kit()
