export { contract, type ContractOptions } from './suite.ts'
