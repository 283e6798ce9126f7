import { contract } from '../src/suite.ts'

contract('node-http', { http2: true })
