/** Rules for Set-Cookie: those of the HTTP Observatory, and of RFC 6265bis §4.1.3 for names with a prefix. */

/** Gives what is wrong with a cookie; nothing if all is well. */
export function cookieFaults(cookie: string, encrypted: boolean): string[] {
  const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim())
  const name = pair.slice(0, pair.indexOf('='))
  const has = (attribute: string): boolean => attributes.some((each) => each.toLowerCase() === attribute)
  const valueOf = (attribute: string): string | undefined =>
    attributes.find((each) => each.toLowerCase().startsWith(`${attribute}=`))?.slice(attribute.length + 1)
  const faults: string[] = []
  const fault = (is: boolean, what: string): void => {
    if (is) faults.push(`the cookie ${name} ${what}`)
  }
  fault(pair.indexOf('=') < 1, 'has no name')
  const sameSite = valueOf('samesite')?.toLowerCase() ?? ''
  fault(encrypted && !has('secure'), 'is not Secure')
  fault(!['lax', 'strict', 'none'].includes(sameSite), `has SameSite=${sameSite}`)
  fault(sameSite === 'none' && !has('secure'), 'is SameSite=None and not Secure')
  // These are the names that the Observatory takes for sessions.
  fault(/login|sess/i.test(name) && !has('httponly'), 'can be read by scripts')
  fault(/login|sess|csrf/i.test(name) && sameSite === 'none', 'comes with requests of every site')
  const isHost = name.startsWith('__Host-')
  fault(isHost && (valueOf('path') !== '/' || valueOf('domain') !== undefined), 'is not of this host alone')
  fault(
    (isHost || name.startsWith('__Secure-')) && !has('secure'),
    'is dropped by browsers, since it is not Secure',
  )
  fault(
    attributes.some((each) => /^partitioned$/i.test(each)) && !has('secure'),
    'is Partitioned and not Secure',
  )
  return faults
}
