import type { Run } from '@stet/sdk'
import { stet } from '../../app/session.ts'
import type { RunFilter } from '../../runs/run-filter.ts'
import { type LoadedPage, listQuery } from './queries.ts'

/** More belong into a script: `stet runs export` resumes. */
export const exportLimit = 5000
/** The largest page of runs with their content. */
const pageSize = 20

interface ExportInput {
  projectId: number
  filter: RunFilter
  /** Only these runs. None exports all that the filter finds. */
  chosen: readonly Run[]
  signal: AbortSignal
  onCount: (count: number) => void
}

/**
 * Returns a file with a line of JSON for each run, with its parameters and messages, newest first, at most
 * `exportLimit`. A chosen run is left out if it was deleted, or does not match the filter any more.
 *
 * @throws StetError if a page cannot be read; AbortError after `signal`
 */
export async function exportRuns(input: ExportInput): Promise<{ file: Blob; count: number }> {
  const { projectId, filter, chosen, signal, onCount } = input
  const uuids = chosen.length > 0 ? new Set(chosen.map(({ uuid }) => uuid)) : null
  const wanted = Math.min(uuids?.size ?? exportLimit, exportLimit)
  const query = { ...listQuery(filter), ...timesOf(chosen), projectId, include: 'content' as const, limit: pageSize }
  // The browser may move a file out of memory, but not a list of lines.
  let file = new Blob([], { type: 'application/jsonl' })
  let count = 0
  let cursor: string | null = null
  do {
    const page: Pick<LoadedPage, 'items' | 'nextCursor'> = await stet.runs.list({
      ...query,
      ...(cursor !== null && { cursor }),
      signal,
    })
    const found = page.items.filter(({ uuid }) => !uuids || uuids.has(uuid)).slice(0, wanted - count)
    file = new Blob([file, ...found.map((run) => `${JSON.stringify(run)}\n`)], { type: file.type })
    count += found.length
    onCount(count)
    cursor = page.nextCursor
  } while (cursor !== null && count < wanted)
  return { file, count }
}

/** The runs before and after the chosen ones are not read. */
function timesOf(chosen: readonly Run[]): { from?: string; to?: string } {
  const times = chosen.map(({ createdAt }) => Date.parse(createdAt))
  if (times.length === 0) return {}
  const [from, to] = [Math.min(...times), Math.max(...times) + 1]
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

/** Saves a file on this computer. */
export function saveFile(name: string, file: Blob): void {
  const url = URL.createObjectURL(file)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
