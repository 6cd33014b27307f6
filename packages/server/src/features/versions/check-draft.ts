/** Says whether what a draft would publish compiles: its changes, and whatever refers to them. */
import { createHash } from 'node:crypto'
import { unprocessable } from '../../shared/app-error.ts'
import type { Needs, Stores, Version } from '../deps.ts'
import { type CheckedText, checkTexts, hashContent, loadFromVersion } from '../documents/check-document.ts'
import { comparePaths } from '../documents/document-path.ts'
import type { Slot } from '../documents/ports.ts'
import type { EvaluationOwner } from '../templates/template-engine.ts'

/** What was compiled without an error. It holds as long as the texts at the paths, and all that refer, are the same. */
export interface CompiledDraft {
  paths: readonly string[]
  fingerprint: string
}

/**
 * Compiles in what the draft shows now, which may be newer than `changes`: the fingerprint tells.
 * @throws AppError UnprocessableEntityError with the errors of each document.
 */
export async function compileDraft(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  draft: Version,
  changes: readonly Slot[],
): Promise<CompiledDraft> {
  const { workspaceId } = owner
  const changed = changes.map((slot) => slot.path)
  const texts = await deps.stores.documents.listReferring(workspaceId, draft, changed)
  const checked = await checkTexts(deps, texts, loadFromVersion(deps, workspaceId, draft), owner)
  assertNoErrors(affectedOf(checked, new Set(changed)))
  const hashes = new Map(texts.map(({ path, contentHash }) => [path, contentHash]))
  for (const { source } of checked) {
    for (const [path, content] of Object.entries(source.documents)) hashes.set(path, hashContent(content))
  }
  return { paths: [...changed, ...hashes.keys()], fingerprint: fingerprint(hashes, changes) }
}

/** Whether publishing these changes now would publish what was compiled; read under the project's lock. */
export async function isStillCompiled(
  stores: Pick<Stores, 'documents'>,
  workspaceId: number,
  draft: Version,
  changes: readonly Slot[],
  compiled: CompiledDraft,
): Promise<boolean> {
  const texts = await stores.documents.listReferring(workspaceId, draft, compiled.paths)
  return (
    compiled.fingerprint === fingerprint(new Map(texts.map(({ path, contentHash }) => [path, contentHash])), changes)
  )
}

function fingerprint(hashes: ReadonlyMap<string, string>, changes: readonly Slot[]): string {
  const hash = createHash('sha256')
  for (const path of [...hashes.keys()].sort(comparePaths)) hash.update(`${hashes.get(path)} ${path}\n`)
  for (const { path } of changes) hash.update(`* ${path}\n`)
  return hash.digest('hex')
}

function assertNoErrors(checked: readonly CheckedText[]): void {
  const documents = checked
    .filter(({ scan }) => scan.errors.length > 0)
    .map(({ text, scan }) => ({
      path: text.path,
      documentUuid: text.documentUuid,
      errors: scan.errors.map(({ code, message, line, column, frame }) => ({ code, message, line, column, frame })),
    }))
  if (documents.length > 0) throw unprocessable(`There are errors in ${documents.length} document(s)`, { documents })
}

/** The changed documents, and those that refer to one, directly or through others. */
function affectedOf(checked: readonly CheckedText[], changed: ReadonlySet<string>): CheckedText[] {
  const references = new Map(checked.map(({ text, scan }) => [text.path, scan.references]))
  return checked.filter(({ text }) => {
    const seen = new Set([text.path])
    // A set is walked in the order of insertion, what is added on the way included.
    for (const path of seen) {
      if (changed.has(path)) return true
      for (const reference of references.get(path) ?? []) seen.add(reference)
    }
    return false
  })
}
