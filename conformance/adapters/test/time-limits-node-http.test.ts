import { TestAuthority } from '@volant/test-kit'
import { contract } from '../src/suite.ts'

const { cert, key } = (await TestAuthority.make()).server(['localhost', '127.0.0.1'])

contract('node-http', { timeLimits: true })
contract('node-http', { timeLimits: true, tls: { cert, key } })
contract('node-http', { timeLimits: true, http2: true })
