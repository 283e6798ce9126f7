/** Checks requests, and inputs of procedures, by schemas of any library that implements Standard Schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Issue, ValidationError } from '../errors/errors.ts'
import { parseMediaType } from './media-type.ts'
import { isLater, issuesIn } from '../schema/result.ts'
import { isDocumentOnly } from '../schema/doc-only.ts'
import { refuseFiles } from '../schema/refuse-parts.ts'
import { fragmentOf, keyOf } from '../schema/json-pointer.ts'
import { checkSchema, standardOf } from '../schema/standard.ts'
import type { Schema, Schemas } from '../types/parts.ts'
import type { Gate, RequestContext } from '../types/request.ts'

/** The parts of a request that a schema can check, in the order of the checks. */
export const checkedParts = ['params', 'query', 'headers', 'cookies', 'body'] as const
export type Checked = (typeof checkedParts)[number]

/** The most issues that a reply names. */
const mostIssues = 100
/** The most characters of an issue's `detail`. */
const longestDetail = 500

/** Throws `E_BAD_SCHEMA` for a value that is not a schema, and for a body that asks for a file unless it is a form. */
export function checkSchemas(schemas: Schemas, where: string, isForm = false): void {
  for (const [part, schema] of Object.entries(schemas)) checkSchema(schema, `${where}: ${part}`)
  if (!isForm) refuseFiles(schemas.body, `${where}: body`)
}

/**
 * Gives a gate that checks by `schemas`; null without any. `where` names the route in errors. The values of a form are
 * text, as those of a query are.
 */
export function gateFor(schemas: Schemas, where: string, isForm = false): Gate | null {
  const steps = checkedParts.flatMap((part): Step[] => {
    const schema = schemas[part]
    if (schema === undefined || isDocumentOnly(schema)) return []
    const place = `${where}: ${part}`
    return [
      { part, schema: standardOf(schema, place, part !== 'body' ? 'text' : isForm ? 'form' : 'body'), place },
    ]
  })
  const [only] = steps
  if (only === undefined) return null
  if (steps.length === 1) return (ctx) => checkOne(ctx, only)
  return (ctx) => checkAll(ctx, steps)
}

/** Gives a gate that checks the input of a procedure. */
export function inputGate(schema: Schema): Gate {
  const place = "a procedure's input"
  const step: Step = { part: 'input', schema: standardOf(schema, place), place }
  return (ctx) => checkOne(ctx, step)
}

/** The object of a check: a request, or the call of a procedure. */
interface Checkable {
  part(name: string): unknown
  /** Replaces a part by what the schema made of it. */
  put(name: string, value: unknown): void
  /** Gives the part of the request that a member of a call's input came from; absent for a request. */
  readonly partOf?: ((member: string | undefined) => string) | null
  /** The request of a call; absent for a request. */
  readonly source?: RequestContext | null
}

interface Step {
  readonly part: Checked | 'input'
  readonly schema: StandardSchemaV1.Props
  /** Names the schema in errors. */
  readonly place: string
}

type Result = StandardSchemaV1.Result<unknown>

// A single schema that checks synchronously allocates nothing beyond what the library does (lab/pair users).
function checkOne(ctx: Checkable, step: Step): Promise<void> | undefined {
  const result = step.schema.validate(ctx.part(step.part))
  if (isLater(result)) return acceptLater(ctx, step, result)
  return accept(ctx, step, result)
}

async function acceptLater(ctx: Checkable, step: Step, result: PromiseLike<Result>): Promise<void> {
  accept(ctx, step, await result)
}

function accept(ctx: Checkable, step: Step, result: Result): undefined {
  const issues = add(ctx, step, result, null)
  if (issues !== null) throw invalid(ctx, issues)
}

function checkAll(ctx: Checkable, steps: readonly Step[]): Promise<void> | undefined {
  let issues: Issue[] | null = null
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as Step
    const result = step.schema.validate(ctx.part(step.part))
    if (isLater(result)) return checkRest(ctx, steps, at, result, issues)
    issues = add(ctx, step, result, issues)
  }
  if (issues !== null) throw invalid(ctx, issues)
  return undefined
}

/** Checks the parts from the first asynchronous schema on. */
async function checkRest(
  ctx: Checkable,
  steps: readonly Step[],
  from: number,
  first: PromiseLike<Result>,
  before: Issue[] | null,
): Promise<void> {
  let issues = before
  for (let at = from; at < steps.length; at++) {
    const step = steps[at] as Step
    const result = await (at === from ? first : step.schema.validate(ctx.part(step.part)))
    issues = add(ctx, step, result, issues)
  }
  if (issues !== null) throw invalid(ctx, issues)
}

/** Replaces the part by what the schema made of it, or adds the issues that the schema found. */
function add(ctx: Checkable, step: Step, result: Result, issues: Issue[] | null): Issue[] | null {
  const found = issuesIn(result, step.schema, step.place)
  if (found !== null) return issuesOf(ctx.partOf ?? step.part, found, issues ?? [])
  ctx.put(step.part, (result as StandardSchemaV1.SuccessResult<unknown>).value)
  return issues
}

/** Makes the error. It says how the body was read, because a wrong Content-Type is a common mistake. */
function invalid(ctx: Checkable, issues: readonly Issue[]): ValidationError {
  const isBody = issues.some((issue) => issue.in === 'body')
  const note = isBody ? howRead((ctx.source ?? ctx) as RequestContext) : undefined
  return new ValidationError(issues, note)
}

function howRead({ rare, exchange }: RequestContext): string | undefined {
  if ((rare?.collected?.length ?? exchange.bodyLength) === 0) return 'the request has no body'
  const type = exchange.header('content-type')
  if (type === undefined) return 'the body has no Content-Type and was read as bytes'
  const essence = parseMediaType(type)?.essence
  if (essence === undefined || essence === 'application/json' || essence.endsWith('+json')) return undefined
  return `the body was read as ${essence}`
}

/** Adds what a schema found to `issues`, up to their limit. `part` may depend on the member that an issue is about. */
export function issuesOf(
  part: string | ((member: string | undefined) => string),
  found: readonly StandardSchemaV1.Issue[],
  issues: Issue[],
): Issue[] {
  for (const issue of found as readonly (Partial<StandardSchemaV1.Issue> | null | undefined)[]) {
    if (issues.length === mostIssues) break
    const path = Array.isArray(issue?.path) ? issue.path : []
    const message: unknown = issue?.message
    issues.push({
      in: typeof part === 'string' ? part : part(path.length === 0 ? undefined : keyOf(path[0])),
      pointer: fragmentOf(path),
      detail: typeof message === 'string' ? shortened(message) : 'is not valid',
    })
  }
  return issues
}

/** Some libraries quote the whole value in a message. */
function shortened(message: string): string {
  return message.length > longestDetail ? `${message.slice(0, longestDetail)}…` : message
}
