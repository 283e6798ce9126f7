import { escape } from './markup.ts'

/** A two-part badge as SVG. `label` and `value` may be any text: both are escaped. */
export function badge(label: string, value: string): string {
  const left = width(label)
  const total = left + width(value)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${total}" height="20" role="img" aria-label="${escape(`${label}: ${value}`)}">
<clipPath id="r"><rect width="${total}" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)"><rect width="${total}" height="20" fill="#2a78d0"/><rect width="${left}" height="20" fill="#444c56"/></g>
<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="${left / 2}" y="14">${escape(label)}</text><text x="${(left + total) / 2}" y="14">${escape(value)}</text>
</g></svg>
`
}

/** Pixels for a part: 11 px Verdana is about 7 px a character, and 6 px stay free on either side. */
function width(text: string): number {
  return [...text].length * 7 + 12
}
