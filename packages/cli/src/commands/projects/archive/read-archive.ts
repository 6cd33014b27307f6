import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { CliError } from '../../../exit-code.ts'
import { isMissing } from '../../../settings/json-file.ts'
import { archiveLimits, assertLineBytes, megabytesOf, Refused, valuesIn } from './archive-limits.ts'
import {
  type ArchivedEvaluation,
  type ArchivedExample,
  type ArchivedVersion,
  readEnd,
  readEvaluation,
  readExample,
  readHeader,
  readText,
  readVersion,
} from './archive-lines.ts'
import { checkExamples } from './check-examples.ts'
import { checkHistory } from './check-history.ts'
import { isDraft, type ProjectArchive, sha256 } from './project-archive.ts'

const hint = 'make the archive again with stet projects export'

/** Reads and verifies an archive. @throws CliError that says what is wrong with the file */
export async function readArchive(file: string): Promise<ProjectArchive> {
  try {
    const archive = await parseArchive(unpackedLines(file))
    checkHistory(archive)
    checkExamples(archive)
    return archive
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw new CliError('invalid', `${file} is not a valid project archive: ${error.message}`, { hint })
  }
}

type Header = ReturnType<typeof readHeader>

interface Contents {
  versions: ArchivedVersion[]
  evaluations: ArchivedEvaluation[]
  examples: ArchivedExample[]
  texts: Map<string, string>
}

async function parseArchive(lines: AsyncIterable<Buffer>): Promise<ProjectArchive> {
  const contents: Contents = { versions: [], evaluations: [], examples: [], texts: new Map() }
  const parse = lineParser()
  const hash = createHash('sha256')
  let header: Header | undefined
  let parsed: unknown
  let last: Buffer | undefined
  let refusal: unknown
  for await (const line of lines) {
    if (last) hash.update(last).update('\n')
    last = line
    // A later format may end differently, so the header is checked at once.
    if (!header) header = readHeader(parse(line))
    else if (refusal === undefined) {
      try {
        if (parsed !== undefined) collect(parsed, contents)
        parsed = parse(line)
      } catch (error) {
        refusal = error
      }
    }
  }
  if (!last || !header) throw new Refused('it is empty')
  // A wrong checksum explains every other refusal, so it comes first.
  if (!hasHash(last, hash.digest('hex'), parse, refusal)) throw new Refused('its checksum does not match')
  if (refusal !== undefined) throw refusal
  assertCounts(header, contents)
  const live = header.live ?? contents.versions.filter((version) => !isDraft(version)).length
  return { project: header.project, live, ...contents }
}

/** @throws `refusal`, or Refused, if the line is not the end of an archive. */
function hasHash(last: Buffer, hash: string, parse: (line: Buffer) => unknown, refusal: unknown): boolean {
  try {
    return readEnd(parse(last)).sha256 === hash
  } catch (error) {
    throw refusal ?? error
  }
}

/** Returns a function that parses one line after another within the limits of the format. */
function lineParser(): (line: Buffer) => unknown {
  let number = 0
  let values = 0
  return (line) => {
    number += 1
    assertLineBytes(line, number)
    values += valuesIn(line, number)
    if (values > archiveLimits.values) throw new Refused(`it has more than ${archiveLimits.values} values`)
    const text = decoded(line)
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw new Refused(`line ${number} is not JSON`)
    }
  }
}

function decoded(line: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line)
  } catch {
    throw new Refused('it is not UTF-8')
  }
}

function collect(line: unknown, { versions, evaluations, examples, texts }: Contents): void {
  const kind = typeof line === 'object' && line !== null ? Object.keys(line)[0] : undefined
  if (kind === 'version') versions.push(readVersion(line))
  else if (kind === 'evaluation') evaluations.push(readEvaluation(line))
  else if (kind === 'example') examples.push(readExample(line))
  else if (kind === 'text') {
    const { hash, content } = readText(line)
    if (sha256(content) !== hash) throw new Refused(`the text ${hash.slice(0, 8)} does not match its hash`)
    texts.set(hash, content)
  } else throw new Refused(`it has a line of an unknown kind`)
}

function assertCounts({ counts }: Header, { versions, evaluations, examples, texts }: Contents): void {
  const read = {
    versions: versions.length,
    evaluations: evaluations.length,
    texts: texts.size,
    examples: examples.length,
  }
  for (const key of ['versions', 'evaluations', 'texts', 'examples'] as const)
    if (read[key] !== counts[key]) throw new Refused(`it has ${read[key]} of ${counts[key]} ${key}`)
}

const newline = 0x0a

/**
 * Yields the lines without their ends. Drops an unfinished last line.
 * @throws CliError for a file that is missing, too large or not gzip; Refused for a line that is too long
 */
async function* unpackedLines(file: string): AsyncGenerator<Buffer> {
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
    throw new CliError('invalid', `${file} is truncated, damaged or not a project archive`, { hint })
  }
}

function tooLarge(file: string): CliError {
  return new CliError('invalid', `${file} is larger than ${megabytesOf(archiveLimits.bytes)}`)
}
