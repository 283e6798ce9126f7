/** Does `ctx.sse`: replies with a stream of events. */
import { ContentType } from '@volant/engine'
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
import { isAbort } from '../reply/abort.ts'
import { plainHeader } from '../reply/header.ts'
import { dropReply } from '../reply/late-reply.ts'
import { isBodiless, send } from '../reply/send.ts'
import type { EventSender, EventsOptions, EventsSource } from '../types/events.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import { EventFeed } from './feed.ts'
import { eventsSettings } from './settings.ts'

/**
 * Sends the head at once, and the events as they come. A function that sends by itself is called before, so that what it
 * throws has a reply; for HEAD it is not called.
 */
export function sendEvents(
  ctx: RequestContext,
  source: EventsSource,
  options: EventsOptions | undefined,
): void {
  if (ctx.phase > ReplyPhase.reopened) {
    dropReply(ctx, 'sse')
    return endIterator(source)
  }
  const feed = new EventFeed(ctx, eventsSettings(options))
  if (typeof source !== 'function') attach(ctx, feed, source)
  else if (isRead(ctx)) call(ctx, source, feed)
  ctx.place('content-type', 'content-type', 'text/event-stream')
  ctx.hasType = true
  if (plainHeader(ctx.replyHeaders, 'cache-control') === undefined)
    ctx.place('cache-control', 'cache-control', 'no-cache, no-transform')
  // nginx and its like would gather the events.
  ctx.place('x-accel-buffering', 'x-accel-buffering', 'no')
  ctx.more.events = feed
  send(ctx, ContentType.custom, { parts: feed, length: -1, mayBeEndless: true }, undefined, 'sse')
}

/** False for a reply without content, whose source is not begun. */
function isRead(ctx: RequestContext): boolean {
  return ctx.method !== 'HEAD' && !isBodiless(ctx.statusCode) && !ctx.exchange.aborted
}

/** Calls the function, which makes an iterable or sends by itself. */
function call(
  ctx: RequestContext,
  source: EventSender | ((stream: EventFeed) => AsyncIterable<unknown> | Generator),
  feed: EventFeed,
): void {
  const given: unknown = source(feed)
  if (isIterable(given)) attach(ctx, feed, given)
  else if (isThenable(given)) {
    given.then(
      (end) => feed.attach(null, guarded(ctx, feed, end)),
      (error: unknown) => feed.fail(error),
    )
  } else feed.attach(null, guarded(ctx, feed, given))
}

/** Checks what a function gave for the end of its stream. What that throws, or rejects with, is reported. */
function guarded(ctx: RequestContext, feed: EventFeed, end: unknown): (() => void) | null {
  if (end === undefined || end === null) return null
  if (typeof end === 'function')
    return () => void (async () => end() as unknown)().catch((error: unknown) => tell(ctx, error))
  feed.fail(
    new VolantError(
      'E_BAD_EVENT',
      `the function of ctx.sse gives nothing, a generator, or a function that is called at the end, not ${briefValue(end)}: send values by stream.send(value)`,
    ),
  )
  return null
}

function attach(ctx: RequestContext, feed: EventFeed, source: unknown): void {
  const iterator = iteratorOf(source)
  const begin = (): void => void read(ctx, feed, iterator)
  // A generator runs its `finally` blocks. One that waits runs them when its wait is over.
  const end = (): void => void (async () => iterator.return?.())().catch((error: unknown) => tell(ctx, error))
  feed.attach(begin, end)
}

async function read(
  ctx: RequestContext,
  feed: EventFeed,
  iterator: AsyncIterator<unknown> | Iterator<unknown>,
): Promise<void> {
  try {
    while (!feed.closed) {
      const result = await iterator.next()
      if (result.done === true) return feed.close()
      if (!feed.send(result.value)) await feed.drained()
    }
  } catch (error) {
    if (feed.closed) tell(ctx, error)
    else feed.fail(error)
  }
}

/** Reports an error of a source whose stream is over. Work that was told to stop fails, and that is no news. */
function tell(ctx: RequestContext, error: unknown): void {
  if (!isAbort(error)) ctx.app.report(error, ctx)
}

function endIterator(source: unknown): void {
  if (isIterable(source)) void (async () => iteratorOf(source).return?.())().catch(() => {})
}

function iteratorOf(source: unknown): AsyncIterator<unknown> | Iterator<unknown> {
  if (isIterable(source)) {
    if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]()
    return source[Symbol.iterator]()
  }
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `ctx.sse takes a generator or another iterable of events, or a function that gets the stream, not ${briefValue(source)}`,
  )
}

/** True for what has events in it. A text is iterable, too, and nobody means its characters. */
function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return (
    typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  )
}
