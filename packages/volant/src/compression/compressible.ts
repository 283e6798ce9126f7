/** The media types whose content gets shorter when it is compressed. */

/**
 * Those that mime-db calls compressible, as far as servers send them: text, whatever has JSON, XML or text inside, and
 * the few binary formats that are not compressed in themselves.
 */
const compressible = new RegExp(
  `^(?:${[
    String.raw`text\/.+`,
    String.raw`[\w.-]+\/[\w.+-]*\+(?:json|text|xml)`,
    String.raw`application\/(?:json|javascript|x-javascript|ecmascript|xml|xml-dtd|wasm|x-ndjson|ndjson|jsonl|json5|graphql|toml|yaml|x-yaml|rtf|postscript|sql|x-sh|x-httpd-php|x-www-form-urlencoded|vnd\.ms-fontobject|x-font-(?:ttf|opentype))`,
    String.raw`font\/(?:ttf|otf|collection)`,
    String.raw`image\/(?:bmp|x-ms-bmp|x-icon|vnd\.microsoft\.icon|vnd\.adobe\.photoshop|svg)`,
    String.raw`(?:message\/.+|model\/(?:obj|mtl|stl|vrml))`,
  ].join('|')})$`,
)

/** The type of event streams, of which each event is to arrive when it was written. */
export const events = 'text/event-stream'

/**
 * True for a type, without its parameters and in lower case, that is worth compressing. Event streams are not: they
 * would hold their compressors for hours (docs/decisions/0017-what-compress-leaves-alone.md).
 */
export function isCompressible(type: string): boolean {
  return compressible.test(type) && type !== events
}
