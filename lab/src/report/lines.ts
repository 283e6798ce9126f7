/** Lines over an axis, each with its name at its end. Drawn for a narrow box, so that a phone shows it as it is. */
import { type Markup, html } from './html.ts'
import type { Palette } from './palette.ts'
import type { Scale } from './scale.ts'

export interface Point {
  readonly x: number
  readonly y: number
  /** Shown when it is pointed at. */
  readonly tip: string
}

export interface Line {
  /** The label of an entry that can be chosen. */
  readonly label: string
  /** The name that readers know it by. */
  readonly title: string
  readonly points: readonly Point[]
  /** Seen; many points are only there to be pointed at. */
  readonly dots: boolean
}

export interface Axis {
  readonly title: string
  readonly scale: (values: readonly number[]) => Scale
  readonly written: (value: number) => string
}

/** In units of the picture; about pixels on a phone. */
const width = 420
const top = 12
const bottom = 44
const leftMargin = 46
const labelHeight = 13

/** Null when no line has a point. */
export function lineChart(
  caption: string,
  all: readonly Line[],
  x: Axis,
  y: Axis,
  palette: Palette,
): Markup | null {
  const lines = all
    .map((line) => ({ ...line, points: line.points.filter(isDrawable) }))
    .filter(({ points }) => points.length > 0)
  if (lines.length === 0) return null
  const height = Math.max(280, lines.length * labelHeight + top + bottom)
  const longest = Math.max(...lines.map(({ title }) => short(title).length))
  // Names of ours are bold.
  const right = 16 + longest * 7.2
  const points = lines.flatMap((line) => line.points)
  const across = x.scale(points.map((point) => point.x))
  const up = y.scale(points.map((point) => point.y))
  const placeX = (value: number): number =>
    round(leftMargin + across.at(value) * (width - leftMargin - right))
  const placeY = (value: number): number => round(height - bottom - up.at(value) * (height - top - bottom))
  const floor = height - bottom
  const grid = up.ticks.map((tick) => {
    const place = placeY(tick)
    return html`<path class="grid" d="M${leftMargin} ${place}H${width - right}" />
      <text x="${leftMargin - 6}" y="${place + 4}" text-anchor="end">${y.written(tick)}</text>`
  })
  const marks = spaced(across.ticks, placeX).map((tick) => {
    const place = placeX(tick)
    return html`<path class="grid" d="M${place} ${floor}v4" />
      <text x="${place}" y="${floor + 17}" text-anchor="middle">${x.written(tick)}</text>`
  })
  const labels = apart(
    lines.map((line) => placeY((line.points.at(-1) as Point).y)),
    top,
    floor,
  )
  const drawn = lines.map((line, index) => {
    const places = line.points.map((point) => [placeX(point.x), placeY(point.y)] as const)
    const [endX, endY] = places.at(-1) as readonly [number, number]
    const labelY = labels[index] as number
    const dots = line.points.map((point, at) => {
      const [cx, cy] = places[at] as readonly [number, number]
      const tip = `${line.title}: ${point.tip}`
      return html`<circle cx="${cx}" cy="${cy}" r="${line.dots ? 3 : 4}" data-tip="${tip}" />`
    })
    const stroke = places.map((place) => place.join(' ')).join('L')
    return html`<g class="line ${palette(line.label)}${line.dots ? '' : ' quiet'}" data-entry="${line.label}">
      <path class="lead" d="M${endX} ${endY}L${width - right + 6} ${labelY}" />
      <path class="stroke" d="M${stroke}" />
      ${dots}
      <text class="name" x="${width - right + 9}" y="${labelY + 4}">${short(line.title)}</text>
    </g>`
  })
  return html`<figure class="lines">
    <figcaption>${caption}</figcaption>
    <svg
      viewBox="0 0 ${width} ${height}"
      role="img"
      aria-label="${caption}: ${lines.map(({ title }) => title).join(', ')}. ${y.title} over ${x.title}."
    >
      ${grid}${marks}
      <path class="base" d="M${leftMargin} ${floor}H${width - right}" />
      ${drawn}
      <text class="axis-title" x="${(leftMargin + width - right) / 2}" y="${height - 8}" text-anchor="middle">
        ${x.title}
      </text>
    </svg>
  </figure>`
}

function isDrawable({ x, y }: Point): boolean {
  return Number.isFinite(x) && Number.isFinite(y)
}

/** Ticks whose text does not run into the one before. */
function spaced(ticks: readonly number[], place: (value: number) => number): number[] {
  let last = -Infinity
  return ticks.filter((tick) => {
    if (place(tick) - last < 34) return false
    last = place(tick)
    return true
  })
}

/** The places moved so that labels do not cover each other, in their order. */
function apart(places: readonly number[], from: number, to: number): number[] {
  const order = places.map((place, index) => ({ place, index })).toSorted((a, b) => a.place - b.place)
  let least = from
  for (const one of order) {
    one.place = Math.max(one.place, least)
    least = one.place + labelHeight
  }
  let most = to
  for (const one of order.toReversed()) {
    one.place = Math.min(one.place, most)
    most = one.place - labelHeight
  }
  const moved = [...places]
  for (const { place, index } of order) moved[index] = round(place)
  return moved
}

function short(title: string): string {
  return title.length > 19 ? `${title.slice(0, 18)}…` : title
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
