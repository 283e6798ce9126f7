export {
  jwk,
  type JwkOptions,
  jwt,
  type JwtOptions,
  type TokenMiddleware,
  type TokenUseOptions,
} from './jwt.ts'
export { signJwt, type SignJwtOptions, type SignWithKeyOptions, type SignWithSecretOptions } from './sign.ts'
export { JwtError, type JwtFault, verifyJwt, type VerifyJwtOptions } from './verify.ts'
export type { JwtAlgorithm, KeyAlgorithm, SecretAlgorithm } from './algorithms.ts'
export type { ClaimOptions } from './claims.ts'
export type { JwtJsonKey, JwtKey, JwtSecret } from './keys.ts'
export type {
  GivenSetSource,
  IssuedOptions,
  IssuedTokenOptions,
  KeySource,
  RemoteSetSource,
  SecretSource,
  TokenOptions,
} from './options.ts'
export type { JwtClaims } from './token.ts'
