import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { CliError } from '../../../exit-code.ts'
import { isMissing } from '../../../settings/json-file.ts'
import { checkExamples } from './check-examples.ts'
import { checkHistory } from './check-history.ts'
import { Refused, readEvaluation, readExample, readHeader, readVersion, textOf } from './line-shapes.ts'
import {
  type ArchivedEvaluation,
  type ArchivedExample,
  type ArchivedProject,
  type ArchivedVersion,
  type ProjectArchive,
  sha256,
} from './project-archive.ts'

/** The whole archive is read into memory. No real project is larger. */
const maxBytes = 256 * 1024 * 1024

/** Reads and verifies an archive. @throws CliError that says what is wrong with the file */
export async function readArchive(file: string): Promise<ProjectArchive> {
  const bytes = await unpack(await readBytes(file), file)
  try {
    const archive = parseArchive(bytes)
    checkHistory(archive)
    checkExamples(archive)
    return archive
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw new CliError('invalid', `${file} is not a valid project archive: ${error.message}`, {
      hint: 'make the archive again with stet projects export',
    })
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    const handle = await open(file, 'r')
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) throw new CliError('usage', `${file} is not a file`)
      if (stats.size > maxBytes) throw tooLarge(file)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isMissing(error)) throw new CliError('not_found', `${file} does not exist`)
    throw error
  }
}

async function unpack(packed: Buffer, file: string): Promise<Buffer> {
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: maxBytes })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(file)
    throw new CliError('invalid', `${file} is truncated, damaged or not a project archive`, {
      hint: 'make the archive again with stet projects export',
    })
  }
}

function tooLarge(file: string): CliError {
  return new CliError('invalid', `${file} is larger than ${maxBytes / 1024 / 1024} MB`)
}

function parseArchive(bytes: Buffer): ProjectArchive {
  const lines = linesOf(bytes)
  const { project, counts } = readHeader(lines[0])
  const found = collect(lines.slice(1, -1), project)
  const { versions, evaluations, examples, texts } = found
  if (versions.length !== counts.versions) throw new Refused(`it has ${versions.length} of ${counts.versions} versions`)
  if (evaluations.length !== counts.evaluations)
    throw new Refused(`it has ${evaluations.length} of ${counts.evaluations} evaluations`)
  if (texts.size !== counts.texts) throw new Refused(`it has ${texts.size} of ${counts.texts} texts`)
  if (examples.length !== counts.examples) throw new Refused(`it has ${examples.length} of ${counts.examples} examples`)
  return found
}

/** Returns the parsed lines. The last one must have the hash of all bytes before it. */
function linesOf(bytes: Buffer): unknown[] {
  const lastStart = bytes.lastIndexOf(10, bytes.length - 2) + 1
  const lines = decode(bytes)
    .split('\n')
    .slice(0, -1)
    .map((line, index) => {
      try {
        return JSON.parse(line) as unknown
      } catch {
        throw new Refused(`line ${index + 1} is not JSON`)
      }
    })
  // Checks the header first, because a later format may end differently.
  readHeader(lines[0])
  const end = textOf(lines.at(-1), 'end', 'sha256')
  if (lines.length < 2 || end !== sha256(bytes.subarray(0, lastStart))) throw new Refused('its checksum does not match')
  return lines
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refused('it is not UTF-8')
  }
}

function collect(lines: readonly unknown[], project: ArchivedProject): ProjectArchive {
  const versions: ArchivedVersion[] = []
  const evaluations: ArchivedEvaluation[] = []
  const examples: ArchivedExample[] = []
  const texts = new Map<string, string>()
  for (const line of lines) {
    const kind = typeof line === 'object' && line !== null ? Object.keys(line)[0] : undefined
    if (kind === 'version') versions.push(readVersion(line))
    else if (kind === 'evaluation') evaluations.push(readEvaluation(line))
    else if (kind === 'example') examples.push(readExample(line))
    else if (kind === 'text') {
      const [hash, content] = [textOf(line, 'text', 'hash'), textOf(line, 'text', 'content')]
      if (sha256(content) !== hash) throw new Refused(`the text ${hash.slice(0, 8)} does not match its hash`)
      texts.set(hash, content)
    } else throw new Refused(`it has a line of an unknown kind`)
  }
  return { project, versions, evaluations, examples, texts }
}
