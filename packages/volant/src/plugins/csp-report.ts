/** Takes the reports of browsers about what a Content-Security-Policy blocked (CSP3 §5, Reporting API §2). */
import type { Scope } from '../app/scope.ts'
import { checkScope, hintMisuse } from '../dispatch/declare.ts'
import { refusal } from '../errors/errors.ts'
import { checkFunction, checkInteger, checkNames, checkText } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { printLine } from '../report/print-line.ts'
import { parseJson } from '../request/json.ts'
import { parseMediaType } from '../request/media-type.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'

/** What a browser says that a policy blocked. Anybody can send such a report: nothing in it has to be true. */
export interface CspViolation {
  /** The page, without query and fragment. */
  readonly documentUrl: string
  /** The address that was blocked, without query and fragment, or `inline`, `eval` and the like. */
  readonly blockedUrl: string
  /** The directive that blocked it, such as `script-src-elem`. */
  readonly directive: string
  /** `enforce` or `report`: with the latter nothing was blocked. */
  readonly disposition: string
  /** The file whose code asked for it, without query and fragment. */
  readonly sourceFile: string
  /** The line in that file; 0 where the report has none. */
  readonly line: number
  /** The column in that line; 0 where the report has none. */
  readonly column: number
  /** The first 40 characters of an inline script or style, if the policy has `'report-sample'`. */
  readonly sample: string
}

/** The options of `cspReport`. */
export interface CspReportOptions {
  /** The path of the route. Default `/csp-reports`. */
  path?: string | undefined
  /** Gets each report. Default: a line on stderr. An error that it throws, or rejects with, is reported. */
  onReport?: ((violation: CspViolation, ctx: Context) => unknown) | undefined
  /** The reports that are passed on in a minute, from 1. Others are counted alone. Default 60. */
  maxReports?: number | undefined
}

/** The most bytes of a body. */
const largest = 65_536
/** The most characters of a text in a report. */
const longest = 1_024
const window = 60_000

/**
 * A plugin: `app.register(cspReport)` adds `POST /csp-reports`, to which browsers send what a policy blocked:
 *
 *     app.use(csp({ defaultSrc: ["'self'"], reportUri: ['/csp-reports'] }))
 *     app.register(cspReport, { onReport: (violation) => log.warn(violation) })
 *
 * It takes `application/csp-report` and `application/reports+json` of at most 64 KiB, and answers 204. Texts are cut to
 * 1,024 characters, their control characters removed. Throws `E_BAD_OPTION`.
 */
export function cspReport(scope: Scope<any>, options: CspReportOptions | void): void {
  checkScope(cspReport, scope)
  checkNames('cspReport', options ?? {}, ['path', 'onReport', 'maxReports'], foreignNames.cspReport)
  const { path = '/csp-reports', onReport, maxReports = 60 } = options ?? {}
  checkText('cspReport: path', path, /^\//, "a path such as '/csp-reports'")
  checkFunction('cspReport: onReport', onReport)
  checkInteger('cspReport: maxReports', maxReports, [1, 1_000_000], 'an integer from 1 to 1,000,000')
  const intake = new Intake(onReport ?? print, maxReports)
  scope.post(path, { maxBodySize: largest, hidden: true }, (given) => {
    const ctx = given as unknown as RequestContext
    for (const violation of violationsIn(ctx)) intake.take(violation, ctx)
    ctx.reply(204)
  })
}
hintMisuse(cspReport, 'app.register(cspReport)')

class Intake {
  readonly #pass: (violation: CspViolation, ctx: Context) => unknown
  readonly #most: number
  #since = performance.now()
  #passed = 0
  #dropped = 0

  constructor(pass: (violation: CspViolation, ctx: Context) => unknown, most: number) {
    this.#pass = pass
    this.#most = most
  }

  take(violation: CspViolation, ctx: RequestContext): void {
    const now = performance.now()
    if (now - this.#since >= window) {
      if (this.#dropped > 0) printLine(`volant: ${this.#dropped} CSP reports of a minute were not passed on`)
      this.#since = now
      this.#passed = 0
      this.#dropped = 0
    }
    if (this.#passed >= this.#most) {
      this.#dropped++
      return
    }
    this.#passed++
    try {
      const result = this.#pass(violation, ctx as unknown as Context)
      if (isThenable(result)) result.then(undefined, (error: unknown) => ctx.app.report(error, ctx))
    } catch (error) {
      ctx.app.report(error, ctx)
    }
  }
}

/** Writes JSON, in which nothing can begin another line. */
function print(violation: CspViolation): void {
  printLine(`volant: CSP violation ${JSON.stringify(violation)}`)
}

function violationsIn(ctx: RequestContext): CspViolation[] {
  const type = parseMediaType(ctx.exchange.header('content-type') ?? '')?.essence
  if (type !== 'application/csp-report' && type !== 'application/reports+json') {
    throw refusal('E_BODY_TYPE', 'Reports are application/csp-report or application/reports+json')
  }
  const value = parseJson(ctx.bodyText, ctx.route.limits.maxJsonDepth)
  if (type === 'application/csp-report') {
    const body = memberOf(value, 'csp-report')
    return isObject(body) ? [ofCspReport(body)] : []
  }
  const reports: readonly unknown[] = Array.isArray(value) ? value : [value]
  // Browsers send reports about other things to the same place.
  return reports.flatMap((report) => {
    const body = memberOf(report, 'body')
    return memberOf(report, 'type') === 'csp-violation' && isObject(body) ? [ofReport(body)] : []
  })
}

function ofCspReport(body: Record<string, unknown>): CspViolation {
  return {
    documentUrl: addressIn(body['document-uri']),
    blockedUrl: addressIn(body['blocked-uri']),
    directive: textIn(body['effective-directive'] ?? body['violated-directive']),
    disposition: textIn(body['disposition']),
    sourceFile: addressIn(body['source-file']),
    line: numberIn(body['line-number']),
    column: numberIn(body['column-number']),
    sample: textIn(body['script-sample']),
  }
}

function ofReport(body: Record<string, unknown>): CspViolation {
  return {
    documentUrl: addressIn(body['documentURL']),
    blockedUrl: addressIn(body['blockedURL']),
    directive: textIn(body['effectiveDirective']),
    disposition: textIn(body['disposition']),
    sourceFile: addressIn(body['sourceFile']),
    line: numberIn(body['lineNumber']),
    column: numberIn(body['columnNumber']),
    sample: textIn(body['sample']),
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Control characters, and those that turn text around or end lines. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function textIn(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, longest).replace(unseen, '') : ''
}

/** Gives an address without what may be secret in it, such as the token of a link. */
function addressIn(value: unknown): string {
  return textIn(value).replace(/[?#].*$/, '')
}

function numberIn(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
