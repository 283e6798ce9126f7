/**
 * `node scripts/deploy-schemas.mjs [SWAGGER COMPOSE]`: writes the JSON Schemas by which the tests of `examples/deploy`
 * check its YAML to `examples/deploy/generated`. It fetches Kubernetes' OpenAPI document (`api/openapi-spec/swagger.json`)
 * and the schema of the Compose Specification (`schema/compose-spec.json`), or reads copies of them. Both are under
 * Apache-2.0, and `$comment` of what is written says so.
 *
 * Of Kubernetes it takes the kinds of `kubernetes.yaml` and what these refer to. Descriptions are left out. A field that
 * no schema names is refused, as `kubectl apply --validate=strict` refuses it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'

const release = '1.36'
const composeCommit = '170098ba07d9f53c383a41bfd4c5166b0a4529a6'
const swaggerUrl = `https://raw.githubusercontent.com/kubernetes/kubernetes/release-${release}/api/openapi-spec/swagger.json`
const composeUrl = `https://raw.githubusercontent.com/compose-spec/compose-spec/${composeCommit}/schema/compose-spec.json`
const licence = 'Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0'

const kinds = {
  'apps/v1 Deployment': 'io.k8s.api.apps.v1.Deployment',
  'v1 Service': 'io.k8s.api.core.v1.Service',
  'networking.k8s.io/v1 NetworkPolicy': 'io.k8s.api.networking.v1.NetworkPolicy',
  'policy/v1 PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
}
const folder = join(root, 'examples/deploy/generated')
const [swagger, compose] = process.argv.slice(2)

mkdirSync(folder, { recursive: true })
write('kubernetes.json', kubernetes(await load(swagger ?? swaggerUrl)))
write('compose.json', {
  $comment: `Made of ${composeUrl} by scripts/deploy-schemas.mjs: without descriptions. ${licence}`,
  ...withoutProse(await load(compose ?? composeUrl)),
})

function kubernetes({ definitions }) {
  const taken = {}
  const take = (name) => {
    if (name in taken) return
    taken[name] = null // it may refer to itself
    taken[name] = strict(name, withoutProse(definitions[name]))
    for (const [, other] of JSON.stringify(taken[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) take(other)
  }
  for (const name of Object.values(kinds)) take(name)
  return {
    $comment: `Made of ${swaggerUrl} by scripts/deploy-schemas.mjs: some kinds, without descriptions, strict. ${licence}`,
    kinds: Object.fromEntries(
      Object.entries(kinds).map(([kind, name]) => [kind, { $ref: `#/definitions/${name}` }]),
    ),
    definitions: Object.fromEntries(Object.entries(taken).sort()),
  }
}

/** What the document describes in words alone: texts and numbers that stand for each other, and what a kind must have. */
function strict(name, schema) {
  if (schema.format === 'int-or-string') return { type: ['integer', 'string'] }
  if (name.endsWith('api.resource.Quantity')) return { type: ['string', 'number'] }
  if (schema.properties === undefined) return schema
  const kind = Object.entries(kinds)
    .find(([, each]) => each === name)?.[0]
    .split(' ')
  const required = [...(schema.required ?? []), ...(kind ? ['apiVersion', 'kind', 'metadata', 'spec'] : [])]
  return { ...schema, additionalProperties: false, ...(required.length > 0 ? { required } : {}) }
}

/** Drops descriptions and extensions. A property may have the name of a keyword, so that names are left as they are. */
function withoutProse(schema) {
  if (Array.isArray(schema)) return schema.map(withoutProse)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([key]) =>
      !['description', 'title', 'default', 'deprecated', '$id'].includes(key) && !key.startsWith('x-'),
  )
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      ['properties', 'patternProperties', 'definitions'].includes(key)
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutProse(each)]))
        : ['enum', 'const', 'required'].includes(key)
          ? value
          : withoutProse(value),
    ]),
  )
}

async function load(place) {
  if (!place.startsWith('https://')) return JSON.parse(readFileSync(place, 'utf8'))
  const reply = await fetch(place)
  if (!reply.ok) throw new Error(`${place} was answered with ${reply.status}`)
  return reply.json()
}

function write(name, value) {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 1)}\n`)
  console.log(`wrote examples/deploy/generated/${name}`)
}
