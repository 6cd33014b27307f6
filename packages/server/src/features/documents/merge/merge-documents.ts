/** Merges texts with those of a version, for a client that keeps prompts elsewhere. Writes nothing. */
import type { MergeDocumentsBody, MergedDocument } from '@stet/contract/vocabulary'
import type { Needs } from '../../deps.ts'
import { byPath, hashContent, loadFromVersion, loadWith } from '../check-document.ts'
import { normalizeDocumentPath } from '../document-path.ts'
import { ownerOf, resolveVersion, type VersionAddress } from '../version-ref.ts'
import { assertBase, textMerger } from './merge-text.ts'

/** @throws AppError BadRequestError for a wrong `base`; NotFoundError for the project or the version. */
export async function mergeDocuments(
  deps: Needs<'stores' | 'liveCache' | 'templates'>,
  input: VersionAddress & MergeDocumentsBody,
): Promise<MergedDocument[]> {
  const { version } = await resolveVersion(deps, input)
  const owner = ownerOf(input)
  const { workspaceId } = owner
  const items = input.items.map(({ prompt: mine, ...item }) => ({
    ...item,
    mine,
    path: normalizeDocumentPath(item.path),
  }))
  for (const item of items) assertBase(item)
  const written = items.map(({ path, mine }) => ({ path, content: mine, contentHash: hashContent(mine) }))
  const load = loadWith(byPath(written), loadFromVersion(deps, workspaceId, version))
  const names = { mine: 'yours', theirs: 'theirs' }
  const merge = textMerger(deps, { owner, projectId: version.projectId, names, load })
  const merged: MergedDocument[] = []
  for (const { path, mine, baseHash, base } of items) {
    const theirs = await deps.stores.documents.findOptional(workspaceId, version, path)
    const isNew = theirs === null && baseHash === ''
    const sides = { path, mine, theirs: isNew ? mine : (theirs?.content ?? null), baseHash, base }
    const { content: found, regions, isClean, isBaseUnknown } = await merge(sides)
    const content = found ?? mine
    merged.push({
      path,
      content,
      contentHash: hashContent(content),
      theirsHash: theirs?.contentHash ?? null,
      conflicts: isClean || found !== null ? regions : [{ line: 1, lines: content.split('\n').length }],
      ...(isBaseUnknown && { baseUnknown: true }),
    })
  }
  return merged
}
