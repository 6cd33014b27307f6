/** Reads the lines of a packed archive one by one. An archive of 120 KB may unpack to 120 MB. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { CliError } from '../../../exit-code.ts'
import { isMissing } from '../../../settings/json-file.ts'
import { archiveLimits, assertLineBytes, megabytesOf, Refused } from './archive-limits.ts'

const newline = 0x0a

/**
 * Yields the lines without their ends. Drops an unfinished last line.
 * @throws CliError for a file that is missing, too large or not gzip; Refused for a line that is too long
 */
export async function* unpackedLines(file: string): AsyncGenerator<Buffer> {
  await refuseOtherFiles(file)
  let pieces: Buffer[] = []
  let bytes = 0
  let number = 1
  for await (const chunk of unpacked(file)) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      pieces.push(chunk.subarray(start, end))
      yield Buffer.concat(pieces)
      pieces = []
      bytes = 0
      number += 1
      start = end + 1
    }
    pieces.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > archiveLimits.versionLineBytes) assertLineBytes(Buffer.concat(pieces), number)
  }
}

async function refuseOtherFiles(file: string): Promise<void> {
  const stats = await stat(file).catch((error: unknown) => {
    throw isMissing(error) ? new CliError('not_found', `${file} does not exist`) : error
  })
  if (!stats.isFile()) throw new CliError('usage', `${file} is not a file`)
  if (stats.size > archiveLimits.bytes) throw tooLarge(file)
}

async function* unpacked(file: string): AsyncGenerator<Buffer> {
  let bytes = 0
  const gunzip = createReadStream(file).pipe(createGunzip())
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > archiveLimits.bytes) throw tooLarge(file)
      yield chunk
    }
  } catch (error) {
    if (error instanceof CliError || error instanceof Refused) throw error
    throw new CliError('invalid', `${file} is truncated, damaged or not a project archive`, {
      hint: 'make the archive again with stet projects export',
    })
  }
}

function tooLarge(file: string): CliError {
  return new CliError('invalid', `${file} is larger than ${megabytesOf(archiveLimits.bytes)}`)
}
