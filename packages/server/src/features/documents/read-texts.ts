/** Reads many texts a megabyte at a time, because all texts of a version may not fit in memory. */
import type { Stores } from '../deps.ts'
import type { DocumentText } from './document.ts'
import type { ListedText, TextFilter, VersionSet } from './ports.ts'

const partBytes = 1_048_576

/**
 * Yields the texts in path order. One statement lists the paths. A text that changes after that is yielded in its newer
 * state, and a deleted one is left out.
 */
export async function* readTexts(
  { documents }: Pick<Stores, 'documents'>,
  workspaceId: number,
  set: VersionSet,
  filter: TextFilter,
): AsyncGenerator<DocumentText[]> {
  const listed = await documents.list(workspaceId, set, filter)
  const read = listed.findIndex(({ content }) => content === null)
  const unread = read === -1 ? [] : listed.splice(read).map(({ path, bytes }) => ({ path, bytes }))
  if (listed.length > 0) yield listed.splice(0).map(wholeText)
  for (const paths of partsOf(unread)) yield await documents.listByPaths(workspaceId, set, paths)
}

function wholeText({ bytes: _bytes, content, ...text }: ListedText): DocumentText {
  return { ...text, content: content ?? '' }
}

function* partsOf(unread: readonly Pick<ListedText, 'path' | 'bytes'>[]): Generator<string[]> {
  let paths: string[] = []
  let held = 0
  for (const { path, bytes } of unread) {
    if (held + bytes > partBytes && paths.length > 0) {
      yield paths
      paths = []
      held = 0
    }
    paths.push(path)
    held += bytes
  }
  if (paths.length > 0) yield paths
}
