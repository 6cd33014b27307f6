import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { RefusedRow } from './row.ts'

const largestFile = 64 * 1_048_576

/** @throws RefusedRow for a file that is not text */
export async function textOf(file: string, shown: string): Promise<string> {
  const bytes = await readFile(file)
  if (bytes.length > largestFile) throw new RefusedRow(shown, 1, 'the file is larger than 64 MB')
  // Spreadsheets save "Unicode text" as UTF-16.
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw new RefusedRow(shown, lineOfFault(bytes), 'the file is not UTF-8: save it as UTF-8')
  }
}

function lineOfFault(bytes: Buffer): number {
  let line = 1
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf('\n', start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
  return line
}
