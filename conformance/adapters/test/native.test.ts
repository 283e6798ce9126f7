import { contract } from '../src/suite.ts'

contract('native')
