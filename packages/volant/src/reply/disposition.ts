/** Content-Disposition of a download (RFC 6266). Names may be anybody's: what is left of a path is its last part. */
export function attachment(given: string): string {
  // Buffer replaces lone surrogates, which encodeURIComponent would throw on.
  const name = Buffer.from(given.replace(/^.*[\\/]/s, '')).toString() || 'download'
  // A percent sign makes some browsers decode what nobody encoded.
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const start = `attachment; filename="${plain}"`
  return plain === name ? start : `${start}; filename*=UTF-8''${encode(name)}`
}

/** RFC 8187 §3.2.1 */
function encode(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
}
