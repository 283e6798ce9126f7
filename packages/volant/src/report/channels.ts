/** The channels of `node:diagnostics_channel` that report requests and apps. */
import { channel } from 'node:diagnostics_channel'

/** Publishes `{ ctx }` when a handler is about to run. Stores bound to the channel are set while it does. */
export const startChannel = channel('volant.request.start')
/** Publishes `{ ctx, status, duration, error, aborted }`, as `ResponseInfo` has them, when the reply is complete. */
export const finishChannel = channel('volant.request.finish')
/** Publishes `{ ctx, error }` for each error that a handler or middleware throws. */
export const errorChannel = channel('volant.request.error')

/** Publishes `{ app, options }` when `listen` of an app is called. */
export const listenChannel = channel('volant.listen')

/** True when the start or end of a request has a subscriber. */
export function isTraced(): boolean {
  return startChannel.hasSubscribers || finishChannel.hasSubscribers
}
