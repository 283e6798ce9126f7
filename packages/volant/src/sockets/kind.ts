/** What all WebSockets of a route share while an app runs: hooks, schemas, and where their errors go. */
import { AsyncResource } from 'node:async_hooks'
import type { Exchange } from '@volant/engine'
import { LazyContext } from '../context/lazy-context.ts'
import type { CompiledRoute, RequestApp } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import type { SocketHook } from '../types/web-socket.ts'
import type { LiveSocket } from './live-socket.ts'
import type { MessageReader, MessageWriter } from './messages.ts'

/** A hook as the framework calls it; the types users see are narrower. */
export type Hook = ((ws: LiveSocket, ...rest: never[]) => unknown) | undefined

export type SocketHooks = { readonly [K in SocketHook]: Hook }

export class SocketKind {
  readonly app: RequestApp
  readonly route: CompiledRoute
  readonly hooks: SocketHooks
  readonly reader: MessageReader | null
  readonly writer: MessageWriter

  constructor(
    app: RequestApp,
    route: CompiledRoute,
    parts: { hooks: SocketHooks; reader: MessageReader | null; writer: MessageWriter },
  ) {
    this.app = app
    this.route = route
    this.hooks = parts.hooks
    this.reader = parts.reader
    this.writer = parts.writer
  }

  /** Calls a hook. What it throws, or rejects with, goes to the hook `error`. Never throws. */
  run(socket: LiveSocket, name: SocketHook, one?: unknown, two?: unknown): void {
    this.#call(this.hooks[name], socket, name, one, two)
  }

  /** Runs the hook `message`. It is not looked up by name, since that is dear where it is done for every message. */
  message(socket: LiveSocket, message: unknown): void {
    this.#call(this.hooks.message, socket, 'message', message)
  }

  #call(hook: Hook, socket: LiveSocket, name: SocketHook, one?: unknown, two?: unknown): void {
    if (hook === undefined) return
    try {
      const result = (hook as (...given: unknown[]) => unknown)(socket, one, two)
      if (isThenable(result)) result.then(undefined, (error: unknown) => this.fail(socket, error, name))
    } catch (error) {
      this.fail(socket, error, name)
    }
  }

  /** Gives an error to the hook `error`; without one, or where that failed, it is reported and the WebSocket closed. */
  fail(socket: LiveSocket, error: unknown, from: SocketHook): void {
    if (this.hooks.error !== undefined && from !== 'error') return this.run(socket, 'error', error)
    const exchange = forgotten(this.route.pattern ?? '')
    this.app.report(error, new LazyContext(exchange, this.app, this.route, 0), from)
    socket.close(1011, 'internal error')
  }
}

/**
 * Stands for the request of an open WebSocket in reports of its errors, since nothing of that is kept. The method is that
 * of the route as `app.routes()` has it, so that no report looks like one of a GET handler.
 */
function forgotten(pattern: string): Exchange {
  return Object.assign(new AsyncResource('VolantExchange', { requireManualDestroy: true }), {
    ...blank,
    path: pattern,
  }) as Exchange
}

const blank = {
  method: 'WS',
  query: '',
  httpVersion: '1.1',
  authority: '',
  remoteAddress: '',
  header: () => undefined,
  headers: () => ({}),
  rawHeaders: () => [],
  isRepeated: () => false,
  param: () => undefined,
  bodyKind: 0,
  bodyLength: 0,
  bodyText: () => '',
  bodyBytes: () => Buffer.alloc(0),
  readBody: () => {},
  credit: () => {},
  replied: true,
  aborted: true,
  halfClosed: true,
  onAbort: null,
  onDrain: null,
  inform: () => {},
  end: () => {},
  start: () => {},
  write: () => true,
  finish: () => {},
  destroy: () => {},
} as const
