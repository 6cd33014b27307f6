import { stet } from '../../app/session.ts'
import type { RunFilter } from '../../runs/run-filter.ts'
import { listQuery } from './queries.ts'

/** More belong into a script: `stet runs export` resumes. */
export const exportLimit = 5000
/** The largest page of runs with their content. */
const pageSize = 20

interface ExportInput {
  projectId: number
  filter: RunFilter
  /** Only these runs. Null exports all that the filter finds. */
  uuids: ReadonlySet<string> | null
  signal: AbortSignal
  onCount: (count: number) => void
}

/**
 * Returns a line of JSON for each run, with its parameters and messages, newest first, at most `exportLimit`.
 *
 * @throws StetError if a page cannot be read; AbortError after `signal`
 */
export async function exportRuns({ projectId, filter, uuids, signal, onCount }: ExportInput): Promise<string[]> {
  const wanted = Math.min(uuids?.size ?? exportLimit, exportLimit)
  const query = { ...listQuery(filter), projectId, include: 'content' as const, limit: pageSize, signal }
  const lines: string[] = []
  for await (const run of stet.runs.list(query)) {
    if (uuids && !uuids.has(run.uuid)) continue
    lines.push(JSON.stringify(run))
    onCount(lines.length)
    if (lines.length >= wanted) break
  }
  return lines
}

/** Saves lines as a file of this computer. */
export function saveFile(name: string, lines: readonly string[]): void {
  const url = URL.createObjectURL(
    new Blob(
      lines.map((line) => `${line}\n`),
      { type: 'application/jsonl' },
    ),
  )
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
