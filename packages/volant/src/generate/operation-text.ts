/** The type of one operation: what its call takes, and its results. */
import { parsePattern } from '../routing/path.ts'
import type { RouteInfo } from '../app/route-info.ts'
import type { Unrepresentable } from '../schema/unrepresentable.ts'
import { madeOfNothing } from '../schema/result.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types/parts.ts'
import { indented, nameFrom, objectText, type TypeMember, union } from './type-syntax.ts'
import type { TypeTexts } from './type-text.ts'

/** The declarations of a route, or of a contract that has no handler yet. */
export type OperationContract = Pick<
  RouteInfo,
  | 'method'
  | 'path'
  | 'schemas'
  | 'responses'
  | 'errors'
  | 'mediaType'
  | 'consumes'
  | 'messages'
  | 'summary'
  | 'description'
  | 'deprecated'
>

/** Takes a schema, or a part of one, that has no JSON Schema. */
export type OnUnknown = (where: string, reason: string) => void

const rawMessage = 'RawMessage'

export class OperationText {
  readonly #name: string
  readonly #contract: OperationContract
  readonly #types: TypeTexts
  readonly #onUnknown: OnUnknown

  constructor(name: string, contract: OperationContract, types: TypeTexts, onUnknown: OnUnknown) {
    this.#name = name
    this.#contract = contract
    this.#types = types
    this.#onUnknown = onUnknown
  }

  /** Gives `Operation<Input, Results>`, or `Socket<Input, Sent, Received>`. */
  text(): string {
    const input = objectText(this.#input())
    const { messages } = this.#contract
    if (messages !== undefined) {
      const parts = [input, this.#sent(messages.in), this.received(messages.out)]
      return `Socket<\n${parts.map((each) => indented(each)).join(',\n')}\n>`
    }
    const results = this.results().map((each) => `\n  | ${indented(each).trimStart()}`)
    return `Operation<\n${indented(`${input},`)}${results.join('')}\n>`
  }

  #input(): TypeMember[] {
    const { schemas, method } = this.#contract
    return [
      ...this.#params(),
      this.#part('query', schemas.query, 'QueryValue'),
      this.#part('headers', schemas.headers, 'HeaderValue'),
      this.#part('cookies', schemas.cookies, 'PathValue | undefined'),
      ...(schemas.body !== undefined
        ? [member('body', this.#bodyType(schemas.body), madeOfNothing(schemas.body) !== null)]
        : method === 'GET' || method === 'HEAD' || method === 'WS'
          ? []
          : [member('body', 'unknown', true)]),
    ]
  }

  #bodyType(schema: Schema): string {
    const type = this.#typeOf(schema, 'input', 'body')
    return this.#contract.consumes === undefined ? type : union([type, 'FormData'])
  }

  /** Gives the parameters of the pattern, with the types of the schema if it has them. */
  #params(): TypeMember[] {
    const { path, schemas } = this.#contract
    const { names, optional } = parsePattern(path)
    const given = schemas.params === undefined ? null : this.#members(schemas.params, 'params', 'PathValue')
    const known = given ?? []
    const rest = names
      .filter((name) => !known.some((each) => each.name === name))
      .map((name) =>
        member(name, 'PathValue', names.indexOf(name) >= names.length - optional && given === null),
      )
    const all = [...known, ...rest]
    return all.length === 0
      ? []
      : [member('params', objectText(all), all.every(({ isOptional }) => isOptional) && given === null)]
  }

  #part(part: 'query' | 'headers' | 'cookies', schema: Schema | undefined, value: string): TypeMember {
    const loose = `Readonly<Record<string, ${value}>>`
    if (schema === undefined) return member(part, loose, true)
    const known = this.#members(schema, part, value)
    if (known !== null)
      return member(
        part,
        objectText(known),
        known.every(({ isOptional }) => isOptional),
      )
    const type = this.#typeOf(schema, 'input', part)
    return type === 'unknown' ? member(part, loose, true) : member(part, type, false)
  }

  /** Gives the pairs of the path, query, headers or cookies; a pair of any type has the type `value`. */
  #members(schema: Schema, part: string, value: string): TypeMember[] | null {
    const described = jsonSchemaOf(schema, 'input')
    if ('opaque' in described) return null
    const members = this.#types.members(described.schema, nameFrom(`${this.#name} ${part}`))
    if (members !== null) this.#partly(part, described.holes)
    return members?.map((each) => (each.type === 'unknown' ? { ...each, type: value } : each)) ?? null
  }

  /** Gives the alternatives of a call's result, or the type of messages. */
  results(): string[] {
    const { responses, errors, schemas, messages } = this.#contract
    if (messages !== undefined) return [this.received(messages.out)]
    const replies =
      responses === null
        ? [`Success<number, ${this.#content('unknown')}>`]
        : Object.entries(responses).map(([status, schema]) => {
            const where = `response ${status}`
            const type = schema === null ? 'undefined' : this.#content(this.#typeOf(schema, 'output', where))
            return Number(status) < 400
              ? `Success<${status}, ${type}>`
              : `Failure<undefined, ${status}, ${type}>`
          })
    const failures = Object.entries(errors).map(([code, { status, data }]) => {
      const type = data === undefined ? 'undefined' : this.#typeOf(data, 'output', `error ${code}`)
      return `Failure<${JSON.stringify(code)}, ${status}, ${type}>`
    })
    return [...replies, ...failures, ...(Object.keys(schemas).length > 0 ? ['Invalid'] : [])]
  }

  #sent(schema: Schema | null): string {
    if (schema === null) return union([rawMessage, 'Uint8Array', 'ArrayBuffer'])
    return this.#typeOf(schema, 'input', 'in')
  }

  /** Gives the type of the messages that the server sends. */
  received(schema: Schema | null): string {
    return schema === null ? rawMessage : this.#typeOf(schema, 'output', 'out')
  }

  /** Gives the type of a reply, as the client reads it by the media type of the route. */
  #content(type: string): string {
    const essence = this.#contract.mediaType?.split(';')[0]?.trim().toLowerCase()
    if (essence === undefined || /^application\/(?:[^/]+\+)?json$/.test(essence)) return type
    return /^text\/(?!event-stream$)/.test(essence) ? 'string' : 'ReadableStream<Uint8Array<ArrayBuffer>>'
  }

  #typeOf(schema: Schema, io: 'input' | 'output', where: string): string {
    const described = jsonSchemaOf(schema, io)
    if ('schema' in described) {
      this.#partly(where, described.holes)
      return this.#types.of(described.schema, nameFrom(`${this.#name} ${where}`), io)
    }
    this.#onUnknown(`${this.#name}: ${where}`, described.opaque)
    return 'unknown'
  }

  /** A Date has a JSON Schema: it is text. */
  #partly(where: string, holes: readonly Unrepresentable[] = []): void {
    for (const { pointer, kind } of holes) {
      if (kind === 'date') continue
      this.#onUnknown(`${this.#name}: ${where} at ${pointer}`, `a ${kind} has no JSON Schema`)
    }
  }
}

function member(name: string, type: string, isOptional: boolean): TypeMember {
  return { name, type, isOptional, about: undefined }
}
