/** How long the sound lasts. */
export const seconds = 120

/** A WAV file of silence: mono, 16 bits, 44,100 samples a second, 10.6 MB; too much for a player to load ahead. */
export function wave(): Buffer {
  const rate = 44_100
  const size = seconds * rate * 2
  const file = Buffer.alloc(44 + size)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + size, 4)
  file.write('WAVEfmt ', 8)
  // Length of this part, PCM, one channel.
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * 2, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(size, 40)
  return file
}
