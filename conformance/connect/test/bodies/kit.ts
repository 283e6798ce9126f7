import { type Rescue } from '../../src/layers.ts'

/** What an app learns of the error of a layer. */
export const tell: Rescue = (error, _req, res, _next) => {
  res.statusCode = error.status ?? 500
  res.end(JSON.stringify([error.type ?? error.code ?? error.message, error.field ?? null]))
}
