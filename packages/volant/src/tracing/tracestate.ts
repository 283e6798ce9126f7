/** The field `tracestate` of W3C Trace Context: what vendors have to say of a trace, passed on as it came. */

/** The most members of a list (§3.3.1.1). */
const mostMembers = 32
/** The least length that has to be passed on (§3.3.1.5). What is longer is shortened. */
const longest = 512
/** Members that are longer go first. */
const longMember = 128

/** The keys of level 2, which has those of level 1, and the values of both (§3.3.1.3). */
const member =
  /^[a-z\d][a-z\d_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/** Gives the list as it may be passed on: empty where it is not valid, since nobody may mend it (§3.3.1). */
export function readTracestate(field: string | undefined): string {
  if (field === undefined || field === '') return ''
  const members = field
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const keys = new Set(members.map((each) => each.slice(0, each.indexOf('='))))
  if (members.length > mostMembers || keys.size < members.length) return ''
  if (!members.every((each) => member.test(each))) return ''
  return shortened(members)
}

function shortened(members: readonly string[]): string {
  const text = members.join(',')
  if (text.length <= longest) return text
  const long = members.findLastIndex((each) => each.length > longMember)
  return shortened(members.toSpliced(long === -1 ? members.length - 1 : long, 1))
}
