/** The replies that a route declares, by status. */
import { VolantError } from '../errors/errors.ts'
import { replyEmpty } from '../reply/reply.ts'
import type { Responses } from '../types/parts.ts'
import type { DeclaredReplies, RequestContext } from '../types/request.ts'
import { ReplyBody, type UndeclaredProperties } from './reply-body.ts'

/** The declared replies of a route. The schema of a status is compiled by the first reply of that status. */
export class ResponsePlan implements DeclaredReplies {
  readonly #where: string
  readonly #responses: Responses
  readonly #undeclared: UndeclaredProperties
  readonly #replies = new Map<number, ReplyBody | null>()

  constructor(where: string, responses: Responses, undeclaredProperties: UndeclaredProperties) {
    this.#where = where
    this.#responses = responses
    this.#undeclared = undeclaredProperties
  }

  has(status: number): boolean {
    return Object.hasOwn(this.#responses, status)
  }

  /**
   * Gives the reply of a status; null where the status has no content. Throws `E_RESPONSE_STATUS` for a status that is
   * not declared.
   */
  replyOf(status: number): ReplyBody | null {
    const known = this.#replies.get(status)
    if (known !== undefined) return known
    const schema = this.has(status) ? this.#responses[status] : undefined
    if (schema === undefined) {
      const declared = Object.keys(this.#responses).join(', ')
      throw new VolantError(
        'E_RESPONSE_STATUS',
        `${this.#where} replies with status ${status} but declares ${declared}: give ctx.reply(status, value) a declared status, or declare this one`,
      )
    }
    const reply =
      schema === null
        ? null
        : new ReplyBody(`the reply of ${this.#where} with status ${status}`, schema, this.#undeclared)
    this.#replies.set(status, reply)
    return reply
  }

  jsonText(value: unknown, status: number): string {
    const reply = this.replyOf(status)
    return reply === null ? this.refuseContent(status, false) : reply.textOf(reply.checkNow(value))
  }

  text(value: string, status: number): string {
    const reply = this.replyOf(status)
    if (reply === null) return this.refuseContent(status, false)
    const checked = reply.checkNow(value)
    return typeof checked === 'string' ? checked : reply.textOf(checked)
  }

  reply(ctx: RequestContext, status: number, value: unknown): void {
    const reply = this.replyOf(status)
    if (reply === null) {
      if (value !== undefined && value !== null) this.refuseContent(status, false)
      replyEmpty(ctx)
    } else {
      if (value === undefined) this.refuseContent(status, true)
      reply.send(ctx, reply.checkNow(value))
    }
  }

  /** Throws `E_RESPONSE_STATUS`: there is content where none is declared, or none where some is. */
  refuseContent(status: number, expected: boolean): never {
    throw new VolantError(
      'E_RESPONSE_STATUS',
      expected
        ? `${this.#where} declares a value for status ${status} and replied with none`
        : `${this.#where} declares status ${status} without content and replied with a value`,
    )
  }
}
