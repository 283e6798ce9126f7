/** Reads dates of header fields in each of their three formats (RFC 9110 §5.6.7). */

const time = '(\\d\\d):(\\d\\d):(\\d\\d)'
const day = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDay = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'
const month = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'

const fixed = new RegExp(`^${day}, (\\d\\d) ${month} (\\d{4}) ${time} GMT$`)
const rfc850 = new RegExp(`^${longDay}, (\\d\\d)-${month}-(\\d\\d) ${time} GMT$`)
const asctime = new RegExp(`^${day} ${month} ([ \\d]\\d) ${time} (\\d{4})$`)

/** Gives milliseconds since 1970, or null if `text` is not a date: RFC 9110 §13.1 says to ignore the field then. */
export function parseHttpDate(text: string): number | null {
  const [, date, name, year, ...clock] = fixed.exec(text) ?? rfc850.exec(text) ?? []
  if (date !== undefined) return at(fullYear(year as string), name as string, date, clock)
  const old = asctime.exec(text)
  if (old === null) return null
  return at(Number(old[6]), old[1] as string, old[2] as string, old.slice(3, 6))
}

function at(year: number, name: string, date: string, [hours, minutes, seconds]: string[]): number | null {
  const text = `${date.trim().padStart(2, '0')} ${name} ${year} ${hours}:${minutes}:${seconds} GMT`
  const parsed = Date.parse(text)
  return Number.isNaN(parsed) ? null : parsed
}

/** A year of two digits that would be more than 50 years ahead is in the past. */
function fullYear(text: string): number {
  if (text.length === 4) return Number(text)
  const now = new Date().getUTCFullYear()
  const year = now - (now % 100) + Number(text)
  return year > now + 50 ? year - 100 : year
}
