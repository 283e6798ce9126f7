/** Makes middleware that checks requests by schemas, for scopes: a route names its schemas in its options. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { gateOf } from '../dispatch/declare.ts'
import { VolantError } from '../errors/errors.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { checkedParts, gateFor } from '../request/validation.ts'
import { refuseFiles } from '../schema/refuse-parts.ts'
import type { FittingMiddleware, Outputs, Schemas } from '../types/parts.ts'

/**
 * Checks parts of the request before the handler, which then sees what the schemas made of them:
 *
 *     app.post('/users', validate({ body: User }), (ctx) => save(ctx.body))
 *
 * One 400 (`E_VALIDATION`) reports everything wrong with a request. Throws `E_BAD_SCHEMA` for a value that is no
 * Standard Schema, and for a body that asks for a file, `E_BAD_OPTION` for an unknown part.
 */
export function validate<const S extends Schemas>(schemas: S): FittingMiddleware<Outputs<S>> {
  if ((schemas as Partial<StandardSchemaV1> | null)?.['~standard'] !== undefined) {
    throw new VolantError('E_BAD_OPTION', 'validate takes { body: schema }, not a schema itself')
  }
  if (typeof schemas !== 'object' || schemas === null) {
    throw new VolantError(
      'E_BAD_OPTION',
      'validate takes an object of schemas: { params, query, headers, cookies, body }',
    )
  }
  checkOptionNames('validate', schemas, checkedParts, { querystring: 'query', param: 'params', json: 'body' })
  const gate = gateFor(schemas, 'validate')
  refuseFiles(schemas.body, 'validate: body')
  const checksParams = schemas.params !== undefined
  const readsBody = schemas.body !== undefined
  return gateOf(gate ?? (() => undefined), {
    checksParams,
    readsBody,
    schemas: { ...schemas },
  }) as FittingMiddleware<Outputs<S>>
}
