import { contract } from '../src/suite.ts'

contract('uwebsockets', { timeLimits: true })
