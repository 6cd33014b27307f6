import { gzipSync } from 'node:zlib'
import { type ArchiveLine, archiveFormat, archiveVersion, type ProjectArchive, sha256 } from './project-archive.ts'

/** The offset of gzip's OS field. Its usual value would make archives differ between systems. */
const osByte = 9
const unknownOs = 255

export function packArchive({ project, versions, evaluations, examples, texts }: ProjectArchive): Buffer {
  const counts = {
    versions: versions.length,
    evaluations: evaluations.length,
    texts: texts.size,
    // Without examples, an older stet can read the archive, and its bytes are those of an older stet.
    ...(examples.length > 0 && { examples: examples.length }),
  }
  const lines: ArchiveLine[] = [{ format: archiveFormat, version: archiveVersion, project, counts }]
  const written = new Set<string>()
  for (const version of versions) {
    for (const { hash } of version.changes) {
      if (hash === null || written.has(hash)) continue
      written.add(hash)
      lines.push({ text: { hash, content: texts.get(hash) ?? '' } })
    }
    lines.push({ version })
  }
  for (const evaluation of evaluations) lines.push({ evaluation })
  for (const example of examples) lines.push({ example })
  const body = textOf(lines)
  const bytes = gzipSync(body + textOf([{ end: { sha256: sha256(body) } }]), { level: 9 })
  bytes[osByte] = unknownOs
  return bytes
}

function textOf(lines: readonly ArchiveLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
