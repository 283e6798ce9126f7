/** An app whose reports a case reads. */
import { createApp } from '../../src/index.ts'

export function appWithReports(): {
  app: ReturnType<typeof createApp>
  reports: unknown[]
  codes: () => unknown[]
} {
  const reports: unknown[] = []
  const app = createApp({ signals: false, errorDetails: false, report: (error) => void reports.push(error) })
  return { app, reports, codes: () => reports.map((each) => (each as { code?: unknown }).code) }
}
