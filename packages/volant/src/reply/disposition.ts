/** Writes the Content-Disposition of a download (RFC 6266). A name may come from a client: only the last part of a path is kept. */
export function attachment(given: string): string {
  // Buffer replaces lone surrogates, for which encodeURIComponent and the package content-disposition throw.
  const name = Buffer.from(given.replace(/^.*[\\/]/s, '')).toString() || 'download'
  // A percent sign makes some browsers decode text that was never encoded.
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const start = `attachment; filename="${plain}"`
  return plain === name ? start : `${start}; filename*=UTF-8''${encode(name)}`
}

/** Encodes a value as RFC 8187 §3.2.1 says. */
function encode(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
}
