/** Turns errors of Ajv into the issues of a validation reply. Their messages never quote the value. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ErrorObject } from 'ajv'
import { keysOf } from '../json-pointer.ts'

/** At most this many values of an `enum` are named. */
const mostValues = 10

/** Gives issues in the order of the errors; the errors of all branches of a union become one issue. */
export function issuesFrom(errors: readonly ErrorObject[]): StandardSchemaV1.Issue[] {
  const kept: ErrorObject[] = []
  for (const error of errors) {
    if (error.keyword === 'if') continue
    if (!compounds.has(error.keyword)) {
      kept.push(error)
      continue
    }
    const branches = takeBranches(kept, error)
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') kept.push(...alternatives(error, branches))
    else kept.push(error)
  }
  return kept.map((error) => ({ message: messageOf(error), path: pathOf(error) }))
}

/** These keywords have an error that follows those of the schemas in them. */
const compounds: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames'])

/** Removes the errors of the schemas in a compound keyword from the end of `kept`. */
function takeBranches(kept: ErrorObject[], compound: ErrorObject): ErrorObject[] {
  const own = `${compound.schemaPath}/`
  const beside = own.replace(/[^/]+\/$/, '')
  const isBranch = ({ instancePath, schemaPath }: ErrorObject): boolean => {
    if (!`${instancePath}/`.startsWith(`${compound.instancePath}/`)) return false
    // Behind a reference, `schemaPath` starts at the definition.
    return (
      schemaPath.startsWith(own) ||
      !schemaPath.startsWith(beside) ||
      /^#\/(?:\$defs|definitions)\//.test(schemaPath)
    )
  }
  let from = kept.length
  while (from > 0 && isBranch(kept[from - 1] as ErrorObject)) from--
  return kept.splice(from)
}

/** Gives the errors of the one alternative that was meant, if that is clear; else the choice itself. */
function alternatives(compound: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[] {
  if (errors.length === 0) return [compound]
  const here = (error: ErrorObject): boolean => error.instancePath === compound.instancePath
  if (errors.every((error) => here(error) && kinds.has(error.keyword))) {
    return [{ ...compound, message: `must be ${listed(branchesOf(compound, errors).map(expected))}` }]
  }
  const meant = branchesOf(compound, errors).filter(
    (branch) => !branch.some((error) => isOther(error, compound)),
  )
  return meant.length === 1 ? (meant[0] as ErrorObject[]) : [compound]
}

const kinds: ReadonlySet<string> = new Set(['type', 'const', 'enum'])

/** True if the value is another alternative, by its type or by a property such as a discriminator. */
function isOther({ keyword, instancePath }: ErrorObject, compound: ErrorObject): boolean {
  const inside = instancePath.slice(compound.instancePath.length)
  return inside === ''
    ? kinds.has(keyword)
    : keyword !== 'type' && kinds.has(keyword) && !inside.includes('/', 1)
}

function branchesOf(compound: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const own = `${compound.schemaPath}/`
  const branches = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    const { schemaPath } = error
    const key = schemaPath.startsWith(own)
      ? (schemaPath.slice(own.length).split('/', 1)[0] as string)
      : schemaPath.split('/').slice(0, 3).join('/')
    const branch = branches.get(key)
    if (branch === undefined) branches.set(key, [error])
    else branch.push(error)
  }
  return [...branches.values()]
}

/** Gives the values that a branch allows, or their type. */
function expected(branch: readonly ErrorObject[]): string {
  const { keyword, params } =
    branch.find(({ keyword: each }) => each !== 'type') ?? (branch[0] as ErrorObject)
  if (keyword === 'const') return JSON.stringify(params.allowedValue)
  if (keyword === 'enum') return valuesOf(params.allowedValues as readonly unknown[])
  return listed([params.type as string | readonly string[]].flat())
}

function messageOf({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'dependentRequired') return `is required beside ${JSON.stringify(params.property)}`
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') return 'is not declared'
  if (keyword === 'propertyNames') return 'has a name that is not allowed'
  if (keyword === 'false schema') return 'must not be there'
  if (keyword === 'uniqueItems') return 'must not have the same item twice'
  if (keyword === 'not') return 'must not be what its schema excludes'
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`
  if (keyword === 'enum') return `must be ${valuesOf(params.allowedValues as readonly unknown[])}`
  if (keyword === 'type') return `must be ${listed([params.type as string | readonly string[]].flat())}`
  if (keyword === 'anyOf' && message === 'must match a schema in anyOf')
    return 'must be one of its alternatives'
  if (keyword === 'oneOf' && params.passingSchemas !== null) return 'must be only one of its alternatives'
  return message === 'must match exactly one schema in oneOf' ? 'must be one of its alternatives' : message
}

function valuesOf(values: readonly unknown[]): string {
  const shown = values.slice(0, mostValues).map((value) => JSON.stringify(value))
  return listed(values.length > mostValues ? [...shown, 'one of others'] : shown)
}

function listed(names: readonly string[]): string {
  const each = [...new Set(names)]
  return each.length < 2 ? each.join('') : `${each.slice(0, -1).join(', ')} or ${each.at(-1)}`
}

/** Ends with the property itself if one is missing or not allowed. */
function pathOf({ keyword, instancePath, params }: ErrorObject): string[] {
  const path = keysOf(instancePath)
  const name = Object.hasOwn(named, keyword) ? (params[named[keyword] as string] as unknown) : undefined
  return typeof name === 'string' ? [...path, name] : path
}

const named: Readonly<Record<string, string>> = {
  required: 'missingProperty',
  dependentRequired: 'missingProperty',
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
  propertyNames: 'propertyName',
}
