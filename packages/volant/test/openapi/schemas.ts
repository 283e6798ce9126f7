/** Schemas as libraries hand them over, and what a document says of them. */
import { createApp, type OpenAPIDocument, openapiOf, type Schema } from 'volant'

const info = { title: 'Test', version: '1.0.0' }

/** As a library would hand them over. */
export const plain = (input: object, output: object = input): Schema =>
  ({
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => input, output: () => output },
    },
  }) as Schema

export const replying = (schemas: Record<string, Schema>): OpenAPIDocument => {
  const app = createApp({ signals: false })
  for (const [path, response] of Object.entries(schemas))
    app.get(path, { response }, () => undefined as never)
  return openapiOf(app, { info })
}

export const schemaAt = (document: OpenAPIDocument, path: string): unknown => {
  const reply = document.paths[path]?.['get']?.responses['200']
  return reply !== undefined && 'content' in reply ? reply.content?.['application/json']?.schema : undefined
}

export const named = ({ components }: OpenAPIDocument): string[] =>
  Object.keys(components.schemas ?? {}).filter((name) => !['Problem', 'ValidationProblem'].includes(name))

/** References that lead nowhere in the document. */
export function dangling(document: OpenAPIDocument): string[] {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":("[^"]*")/g)].map(
    ([, ref]) => JSON.parse(ref as string) as string,
  )
  return refs.filter((ref) => {
    const keys = ref.replace(/^#\//, '').split('/').map(decodeURIComponent)
    const target = keys.reduce<any>(
      (at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    )
    return target === undefined
  })
}
