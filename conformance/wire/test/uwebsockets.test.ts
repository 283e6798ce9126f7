import { testRecorded } from './recorded-verdicts.ts'

testRecorded('uwebsockets')
