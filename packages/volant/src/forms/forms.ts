/** `ctx.form()`, `ctx.parts()` and `ctx.request.formData()`. This file is loaded by the first request that uses one. */
import { bag, BodyKind } from '@volant/engine'
import { refusal } from '../errors/errors.ts'
import { checkEncoding, collectBody, collectedBody, formOf } from '../request/body.ts'
import type { Form, FormLimits, FormValue } from '../types/form.ts'
import type { BodyLedger, RequestContext, RouteLimits, WholeBody } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import { type BodySource, bytesSource, StreamSource, webSource } from './body-source.ts'
import { boundaryOf, formType, multipart, urlencoded } from './content-type.ts'
import { formLimits } from './form-limits.ts'
import { type KnownLimits, MultipartParser } from './multipart.ts'
import { ArrivingPart, textOf } from './part.ts'
import { malformed, type PartHead } from './part-head.ts'
import { PartReader } from './part-reader.ts'

const both = [multipart, urlencoded]

/** Gives a form whose values fit in memory. */
export async function readForm(ctx: RequestContext, options: FormLimits | undefined): Promise<Form> {
  const limits = formLimits('ctx.form', options, ctx.route.limits)
  const type = ctx.exchange.header('content-type')
  const media = formType(type, ctx.route.consumes ?? both)
  if (!ctx.rare?.decoder) checkEncoding(ctx.exchange.header('content-encoding'))
  const form = bag() as Form
  if (media.essence === urlencoded) return checked(formOf(media, await wholeBody(ctx), ctx.route.limits))
  await collect(sourceOf(ctx), type as string, limits, ctx.app.ledger, (name, value) => {
    // This is what a browser sends for an input that no file was chosen for.
    if (typeof value !== 'string' && value.name === '' && value.size === 0) return
    const before = form[name]
    if (before === undefined) form[name] = value
    else if (Array.isArray(before)) before.push(value)
    else form[name] = [before, value]
  })
  return form
}

/** A name that would change the prototype of an object that the form is copied into is refused, as in JSON. */
function checked(form: Form): Form {
  if ('__proto__' in form) throw malformed('a field is named __proto__')
  return form
}

/** Gives the `FormData` of a body that was read by its `Request`. */
export async function formDataOf(bytes: Buffer, type: string, limits: RouteLimits): Promise<FormData> {
  const data = new FormData()
  const media = formType(type, both)
  if (media.essence === urlencoded) {
    const pairs = [...new URLSearchParams(bytes.toString('utf8'))]
    if (pairs.length > limits.maxFormKeys) throw refusal('E_BODY_TOO_MANY_KEYS')
    for (const [name, value] of pairs) data.append(name, value)
    return data
  }
  await collect(bytesSource(bytes), type, limits, null, (name, value) => {
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, value, value.name)
  })
  return data
}

/** Reads all parts into memory. With a ledger what is held counts as a body that is collected. */
async function collect(
  source: BodySource,
  type: string,
  limits: KnownLimits,
  ledger: BodyLedger | null,
  add: (name: string, value: FormValue) => void,
): Promise<void> {
  const reader = new PartReader(source, new MultipartParser(boundaryOf(type), limits))
  let held = 0
  try {
    for (;;) {
      const part = await reader.nextPart()
      if (part === null) return
      const { head, number } = part
      const chunks: Buffer[] = []
      for (;;) {
        const next = reader.borrow(number)
        const chunk = isThenable(next) ? await next : next
        if (chunk === null) break
        chunks.push(chunk)
        if (ledger === null) continue
        if (ledger.held + chunk.length > ledger.limit) throw refusal('E_OVERLOADED')
        ledger.held += chunk.length
        held += chunk.length
      }
      const { name, filename } = head
      add(name, filename === undefined ? textOf(Buffer.concat(chunks), head) : fileOf(chunks, filename, head))
    }
  } finally {
    if (ledger !== null) ledger.held -= held
  }
}

function fileOf(chunks: readonly Buffer[], filename: string, { type }: PartHead): File {
  return new File(chunks as readonly Buffer<ArrayBuffer>[] as Buffer<ArrayBuffer>[], filename, { type })
}

/** Gives the parts of a multipart form, as they arrive. */
export async function* readParts(
  ctx: RequestContext,
  options: FormLimits | undefined,
): AsyncGenerator<ArrivingPart, void, undefined> {
  const limits = formLimits('ctx.parts', options, ctx.route.limits)
  const type = ctx.exchange.header('content-type')
  formType(type, [multipart])
  if (!ctx.rare?.decoder) checkEncoding(ctx.exchange.header('content-encoding'))
  const reader = new PartReader(sourceOf(ctx), new MultipartParser(boundaryOf(type as string), limits))
  for (;;) {
    const next = await reader.nextPart()
    if (next === null) return
    yield new ArrivingPart(reader, next.head, next.number)
  }
}

/** A buffered body is counted by the adapter, one that arrives by the ledger. */
function sourceOf(ctx: RequestContext): BodySource {
  if (!isStreamed(ctx)) return bytesSource(ctx.bodyBytes)
  return ctx.rare?.decoder ? webSource(ctx.bodyStream) : new StreamSource(ctx)
}

function wholeBody(ctx: RequestContext): Promise<WholeBody> | WholeBody {
  if (!isStreamed(ctx)) return collectedBody(ctx.bodyBytes)
  if (ctx.rare?.decoder) return decodedBody(ctx.bodyStream)
  return collectBody(ctx.exchange, Infinity, ctx.app.ledger)
}

/** It is not counted by the ledger, as its length is limited by `maxBodySize`. */
async function decodedBody(stream: ReadableStream<Uint8Array>): Promise<WholeBody> {
  return collectedBody(
    Buffer.from(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer()),
  )
}

function isStreamed({ exchange, route }: RequestContext): boolean {
  return route.bodyMode === 'stream' && exchange.bodyKind === BodyKind.stream
}
