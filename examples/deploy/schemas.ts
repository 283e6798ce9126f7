/** The JSON Schemas of Kubernetes and Compose in `generated`, which `scripts/deploy-schemas.mjs` makes. */
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { fileOf } from './deployed.ts'

// The schemas have formats and keywords of their own, such as those for Go's integers.
const ajv = new Ajv({ strict: false, allErrors: true })
formats.default(ajv)
const compose = ajv.compile(withoutDraft(JSON.parse(fileOf('generated/compose.json')) as object))
const kubernetes = JSON.parse(fileOf('generated/kubernetes.json')) as {
  kinds: Record<string, object>
  definitions: object
}

/** Gives what is wrong, each with its place. `kind` is `compose`, or one of Kubernetes with its version: `v1 Service`. */
export function faultsOf(kind: string, value: unknown): string[] {
  const check = kind === 'compose' ? compose : kubernetesKind(kind)
  if (check === null) return [`no schema in generated/kubernetes.json is for ${kind}`]
  if (check(value) === true) return []
  return (check.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

function kubernetesKind(kind: string): ValidateFunction | null {
  const schema = kubernetes.kinds[kind]
  return schema === undefined ? null : ajv.compile({ ...schema, definitions: kubernetes.definitions })
}

/** The draft is named by an address that ajv does not have: by https:, not by http:. */
function withoutDraft(schema: object): object {
  return { ...schema, $schema: undefined }
}
