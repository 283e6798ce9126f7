import { contract } from '../src/suite.ts'

contract('node-http')
