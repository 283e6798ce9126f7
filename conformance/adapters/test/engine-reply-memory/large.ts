/** A reply larger than what the sockets of both ends take at once. */
export const large = 12_000_000
