/** What other scripts of the repository may use of the lab: its statistics and its readings. */
export { interval, median, pairedRatio, summarize, type Estimate } from './statistics.ts'
export { cpuBetween, descendants, readCpu, readMemory, type CpuReading, type CpuUse } from './readings.ts'
export { parseWrk, type WrkResult } from './generators/wrk-output.ts'
