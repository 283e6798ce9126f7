/** The channels of `node:diagnostics_channel` that tell of requests and apps. */
import { channel } from 'node:diagnostics_channel'

/** Messages `{ ctx }`: a handler is about to run. Stores bound to the channel are set while it does. */
export const startChannel = channel('volant.request.start')
/** Messages `{ ctx, status, duration, error, aborted }`, as `ResponseInfo` has them. */
export const finishChannel = channel('volant.request.finish')
/** Messages `{ ctx, error }`: whatever a handler or middleware threw. */
export const errorChannel = channel('volant.request.error')

/** Messages `{ app, options }`: `listen` of an app was called. */
export const listenChannel = channel('volant.listen')

/** Whether somebody subscribed to what happens at a request's start or end. */
export function isTraced(): boolean {
  return startChannel.hasSubscribers || finishChannel.hasSubscribers
}
