import { gzipSync } from 'node:zlib'
import { CliError } from '../../../exit-code.ts'
import { archiveLimits, assertLineBytes, megabytesOf, Refused } from './archive-limits.ts'
import { type ArchiveLine, archiveFormat } from './archive-lines.ts'
import { isDraft, type ProjectArchive, sha256 } from './project-archive.ts'

/** The fields that examples have in every version of the format. */
const plainFields = ['path', 'name', 'parameters', 'messages']

/** The offset of gzip's OS field. Its usual value would make archives differ between systems. */
const osByte = 9
const unknownOs = 255

/** @throws CliError if the archive would be beyond the limits that an import has */
export function packArchive({ project, versions, evaluations, examples, texts, live }: ProjectArchive): Buffer {
  const counts = {
    versions: versions.length,
    evaluations: evaluations.length,
    texts: texts.size,
    examples: examples.length,
  }
  const isPlain =
    versions.every(({ base, revisions }) => !base && !revisions) &&
    live === versions.filter((version) => !isDraft(version)).length
  const hasMoves = versions.some(({ changes }) => changes.some(({ from }) => from !== undefined))
  const hasRows = examples.some((example) => Object.keys(example).some((key) => !plainFields.includes(key)))
  const version = hasRows ? 4 : hasMoves ? 3 : isPlain ? 1 : 2
  const lines: ArchiveLine[] = [{ format: archiveFormat, version, project, counts, ...(version > 1 && { live }) }]
  const written = new Set<string>()
  for (const version of versions) {
    for (const { hash } of [...version.changes, ...(version.revisions ?? [])]) {
      if (hash === null || written.has(hash)) continue
      written.add(hash)
      lines.push({ text: { hash, content: texts.get(hash) ?? '' } })
    }
    lines.push({ version })
  }
  for (const evaluation of evaluations) lines.push({ evaluation })
  for (const example of examples) lines.push({ example })
  const body = textOf(lines)
  assertImportable(body)
  const bytes = gzipSync(body + textOf([{ end: { sha256: sha256(body) } }]), { level: 9 })
  bytes[osByte] = unknownOs
  return bytes
}

function assertImportable(body: string): void {
  const bytes = Buffer.from(body)
  try {
    if (bytes.length > archiveLimits.bytes) throw new Refused(`it is larger than ${megabytesOf(archiveLimits.bytes)}`)
    for (let start = 0, number = 1; start < bytes.length; number += 1) {
      const end = bytes.indexOf('\n', start)
      assertLineBytes(bytes.subarray(start, end), number)
      start = end + 1
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw new CliError('invalid', `The project does not fit into an archive: ${error.message}`, {
      hint: 'move it with a backup of the server',
    })
  }
}

function textOf(lines: readonly ArchiveLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
