/** The reason why an archive is invalid. */
export class Refused extends Error {}

/** Checked before a line is parsed, because brackets parse to 30 to 50 times their size. */
export const archiveLimits = {
  /** Packed and unpacked. Its texts stay in memory. */
  bytes: 256 * 1024 * 1024,
  /** A text of 256 KB in which each byte is escaped, or an example, which has the same limit. */
  lineBytes: 2 * 1024 * 1024,
  /** A version that changes about 80,000 prompts. */
  versionLineBytes: 16 * 1024 * 1024,
  /** The server's limit for the parameters of an example, and the levels around them. */
  depth: 72,
  /** Items and members of all lines together. */
  values: 4_000_000,
} as const

export function megabytesOf(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}

const versionStart = Buffer.from('{"version":')

/** @throws Refused if the line is longer than its kind may be */
export function assertLineBytes(line: Buffer, number: number): void {
  const isVersion = line.subarray(0, versionStart.length).equals(versionStart)
  const most = isVersion ? archiveLimits.versionLineBytes : archiveLimits.lineBytes
  if (line.length > most) throw new Refused(`line ${number} is longer than ${megabytesOf(most)}`)
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const starts = [0x5b, 0x7b]
const ends = [0x5d, 0x7d]

/**
 * Counts the items and members of a line of JSON. An empty list or object counts as one.
 * @throws Refused if the line is nested too deep
 */
export function valuesIn(line: Buffer, number: number): number {
  let values = 0
  let depth = 0
  for (let place = 0; place < line.length; place += 1) {
    const byte = line[place] as number
    if (byte === quote) place = endOfString(line, place + 1)
    else if (byte === comma) values += 1
    else if (ends.includes(byte)) depth -= 1
    else if (starts.includes(byte)) {
      values += 1
      depth += 1
      if (depth > archiveLimits.depth)
        throw new Refused(`line ${number} is nested deeper than ${archiveLimits.depth} levels`)
    }
  }
  return values
}

function endOfString(line: Buffer, start: number): number {
  for (let end = line.indexOf(quote, start); end !== -1; end = line.indexOf(quote, end + 1)) {
    let escapes = 0
    while (end - escapes > start && line[end - escapes - 1] === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return line.length
}
