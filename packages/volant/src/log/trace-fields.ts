/** The members by which log lines are found beside the trace of their request, as OpenTelemetry names them. */
import type { TraceIds } from '../types/request.ts'

export interface TraceFields {
  readonly trace_id: string
  readonly span_id: string
  readonly trace_flags: string
}

export function traceFields({ traceId, spanId, traceFlags }: TraceIds): TraceFields {
  return { trace_id: traceId, span_id: spanId, trace_flags: traceFlags.toString(16).padStart(2, '0') }
}
