import { testRecorded } from './recorded-verdicts.ts'

testRecorded('node-http', 'tls')
