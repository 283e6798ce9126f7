import { TestAuthority } from '@volant/test-kit'
import { contract } from '../src/suite.ts'

const { cert, key } = (await TestAuthority.make()).server(['localhost', '127.0.0.1'])

contract('native', { tls: { cert, key } })
