import { createRequire } from 'node:module'
import cors from 'cors'
import morgan from 'morgan'
import { serve } from '../express-programs.mjs'
import { startTracing } from '../tracing.mjs'

const bring = (name) => import(name)
const bySdk = process.env.PROGRAM === 'traces' ? await instrument() : null
// What instruments Express wraps it when it is required, not when it is imported.
const express = createRequire(import.meta.url)('express')
await serve({ express, morgan, cors, bring, bySdk })

/** OpenTelemetry's own two for Express: a span for each request, and none for its layers unless SPANS asks for the usual ones. */
async function instrument() {
  const start = await startTracing(bring)
  const { registerInstrumentations } = await bring('@opentelemetry/instrumentation')
  const { HttpInstrumentation } = await bring('@opentelemetry/instrumentation-http')
  const { ExpressInstrumentation, ExpressLayerType } = await bring('@opentelemetry/instrumentation-express')
  const ignoreLayersType = process.env.SPANS === 'usual' ? [] : Object.values(ExpressLayerType)
  registerInstrumentations({
    instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation({ ignoreLayersType })],
  })
  return start
}
