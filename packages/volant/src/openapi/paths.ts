/** Finds the paths of a document: which operations stand at which of them, and what each is called. */
import { baseOfText, Names } from './names.ts'
import type { RouteOperation } from './operation.ts'
import { compareText } from './sorted.ts'
import { shapeOf, type Template, templatesOf } from './path-templates.ts'

/**
 * The methods of a path, in the order in which the document has them (OpenAPI 3.1 §4.8.9). The handshake of a WebSocket
 * (`WS`) is a GET.
 */
export const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'WS']

/** An operation at one of the paths of its pattern. */
export interface PathOperation {
  readonly operation: RouteOperation
  readonly template: Template
  /** Paths that differ in the names of their parameters alone are one path, with the names of the first. */
  readonly path: string
  readonly names: readonly string[]
}

/**
 * Gives one operation for each method of a path. A parameter and the rest of a path are the same to OpenAPI: `warn` is
 * told which operation the document leaves out.
 */
export function* pathOperationsOf(
  operations: readonly RouteOperation[],
  warn: (sentence: string) => void,
): Generator<void, PathOperation[]> {
  const all: PathCandidate[] = []
  for (const operation of operations) {
    for (const template of templatesOf(operation.route.path))
      all.push({ operation, template, shape: shapeOf(template.path) })
    yield
  }
  all.sort(inOrder)
  yield
  const firsts = new Map<string, Template>()
  const taken = new Map<string, RouteOperation>()
  return all.flatMap(({ operation, template, shape }) => {
    const key = `${operation.route.method} ${shape}`
    const before = taken.get(key)
    if (before !== undefined) {
      warn(
        `the API's document leaves out ${operation.name}: OpenAPI cannot tell its path from that of ${before.name}`,
      )
      return []
    }
    taken.set(key, operation)
    const first = firsts.get(shape) ?? template
    firsts.set(shape, first)
    return { operation, template, path: first.path, names: first.params.map(({ name }) => name) }
  })
}

interface PathCandidate {
  readonly operation: RouteOperation
  readonly template: Template
  readonly shape: string
}

function inOrder(a: PathCandidate, b: PathCandidate): number {
  return (
    compareText(a.shape, b.shape) ||
    methodOrder.indexOf(a.operation.route.method) - methodOrder.indexOf(b.operation.route.method) ||
    wildcardsOf(a.template) - wildcardsOf(b.template) ||
    compareText(a.template.path, b.template.path)
  )
}

function wildcardsOf({ params }: Template): number {
  return params.filter(({ wildcard }) => wildcard).length
}

/**
 * Gives the id of each operation. The ids of routes come first; others are made of method and path. The shorter paths
 * of a route say in their id which parameter they lack. Where an app is mounted twice, the second id is numbered.
 */
export function* operationIdsOf(
  operations: readonly PathOperation[],
): Generator<void, Map<PathOperation, string>> {
  const taken = new Names()
  const ids = new Map<PathOperation, string>()
  for (const each of operations) {
    const { operationId } = each.operation.route
    if (operationId !== undefined && each.template.absent.length === 0) ids.set(each, taken.take(operationId))
  }
  for (const each of operations) {
    if (ids.has(each)) continue
    yield
    const { operationId, method, path } = each.operation.route
    const longest = templatesOf(path).at(-1) as Template
    const whole = operationId ?? method.toLowerCase() + nameOfPath(longest.path)
    const [absent] = each.template.absent
    ids.set(each, taken.take(absent === undefined ? whole : `${whole}Without${baseOfText(absent)}`))
  }
  return ids
}

/** Makes `UsersByIdPosts` of `/users/{id}/posts`. */
function nameOfPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '')
  return parts.map((part) => baseOfText(part.replaceAll('{', ' by ').replaceAll('}', ' '))).join('')
}
