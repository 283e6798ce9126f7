import { contract } from '../src/suite.ts'

contract('native', { http2: true })
