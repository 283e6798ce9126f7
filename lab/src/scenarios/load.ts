/** Short ways to write what a scenario sends. */
import type { Load, Request } from '../scenario.ts'

/** 100 connections kept alive, no pipelining, 1 s of warm-up. */
export function load(requests: Request | readonly Request[], changes: Partial<Load> = {}): Load {
  return {
    connections: 100,
    pipelining: 1,
    connection: 'keep-alive',
    requests: 'path' in requests ? [requests] : requests,
    order: 'weighted',
    warmup: 1,
    window: null,
    ...changes,
  }
}

/** A GET that is answered with 200; `reply` is compared byte for byte. */
export function get(path: string, reply: string | null, changes: Partial<Request> = {}): Request {
  return {
    weight: 1,
    method: 'GET',
    path,
    headers: {},
    body: null,
    expect: { status: 200, body: reply, length: null, contains: null },
    ...changes,
  }
}

/** A POST of JSON. `contains` must be in the reply, null says nothing of it. */
export function post(path: string, body: string, status: number, contains: string | null): Request {
  return {
    weight: 1,
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body,
    expect: { status, body: null, length: null, contains },
  }
}
