/** Compiles a draft before it is published. Its texts may be those that the same request is about to write. */

import { createHash } from 'node:crypto'
import { refuse } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { checkText, hashContent, inBatches, loadFromVersion, loadWith } from '../../documents/check-document.ts'
import type { DocumentText, TextHead } from '../../documents/document.ts'
import { comparePaths } from '../../documents/document-path.ts'
import { isChange } from '../../documents/overlay.ts'
import type { SlotOf, VersionSet } from '../../documents/ports.ts'
import { readTexts } from '../../documents/read-texts.ts'
import type { EvaluationOwner, TemplateScan } from '../../templates/template-engine.ts'

export type WrittenText = Pick<DocumentText, 'path' | 'content' | 'contentHash' | 'documentUuid'>

/** A draft as a request will leave it. */
export interface PlannedDraft {
  /** The draft before the request, or `noDraft`. */
  set: VersionSet
  slots: readonly SlotOf<TextHead>[]
  /** The texts that the request writes over those of `set`. Null: no prompt. */
  written: ReadonlyMap<string, WrittenText | null>
}

/** Shows live: no version has this id. */
export function noDraft(projectId: number): VersionSet {
  return { id: 0, projectId, number: null }
}

/** The result of a compilation. Valid until a text at `paths` or a text with references changes. */
export interface CompiledDraft {
  paths: readonly string[]
  fingerprint: string
  changed: readonly CheckedHead[]
  /** The documents with errors that the draft changes, or that refer to one that it changes. By path. */
  broken: readonly CheckedHead[]
}

/** Compiles the draft's current texts, which may be newer than its slots. The fingerprint covers both. */
export async function compileDraft(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  planned: PlannedDraft,
): Promise<CompiledDraft> {
  const { workspaceId } = owner
  const changes = planned.slots.filter(isChange)
  const changed = new Set(changes.map((slot) => slot.path))
  const load = loadWith(planned.written, loadFromVersion(deps, workspaceId, planned.set))
  const checked: CheckedHead[] = []
  const hashes = new Map<string, string>()
  const check = (text: WrittenText) => checkText(deps, text, load, owner)
  const texts = textsOf(deps, workspaceId, planned, [...changed])
  // Keeps no text: the resolved texts of a whole project may not fit in memory.
  for await (const { text, source, scan } of inBatches(deps, texts, owner, check)) {
    const { path, documentUuid, contentHash } = text
    checked.push({
      path,
      documentUuid,
      references: scan.references,
      errors: scan.errors,
      refusals: scan.issues.filter(({ severity }) => severity === 'error'),
    })
    hashes.set(path, contentHash)
    for (const [reference, content] of Object.entries(source.documents)) hashes.set(reference, hashContent(content))
  }
  return {
    paths: [...changed, ...hashes.keys()],
    fingerprint: fingerprint(hashes, changes),
    changed: checked.filter(({ path }) => changed.has(path)),
    broken: affectedOf(checked, changed)
      .filter(({ errors }) => errors.length > 0)
      .sort((one, other) => comparePaths(one.path, other.path)),
  }
}

async function* textsOf(
  deps: Needs<'stores'>,
  workspaceId: number,
  { set, written }: PlannedDraft,
  paths: readonly string[],
): AsyncGenerator<WrittenText[]> {
  for await (const part of readTexts(deps.stores, workspaceId, set, { paths, orReferring: true })) {
    yield part.filter(({ path }) => !written.has(path))
  }
  yield [...written.values()].filter((text) => text !== null)
}

export interface CheckedHead
  extends Pick<DocumentText, 'path' | 'documentUuid'>,
    Pick<TemplateScan, 'references' | 'errors'> {
  /** Why a run would refuse the prompt. */
  refusals: TemplateScan['issues']
}

export function hashesIn(texts: readonly Pick<DocumentText, 'path' | 'contentHash'>[]): Map<string, string> {
  return new Map(texts.map(({ path, contentHash }) => [path, contentHash]))
}

export function fingerprint(hashes: ReadonlyMap<string, string>, changes: readonly SlotOf<TextHead>[]): string {
  const hash = createHash('sha256')
  for (const path of [...hashes.keys()].sort(comparePaths)) hash.update(`${hashes.get(path)} ${path}\n`)
  for (const path of changes.map((slot) => slot.path).sort(comparePaths)) hash.update(`* ${path}\n`)
  return hash.digest('hex')
}

/** Returns the changed documents and those that refer to one, directly or indirectly. */
function affectedOf(checked: readonly CheckedHead[], changed: ReadonlySet<string>): CheckedHead[] {
  const references = new Map(checked.map((head) => [head.path, head.references]))
  return checked.filter((head) => {
    const seen = new Set([head.path])
    // Iterating over a set also visits entries added during the iteration.
    for (const path of seen) {
      if (changed.has(path)) return true
      for (const reference of references.get(path) ?? []) seen.add(reference)
    }
    return false
  })
}

/** Rolls back a transaction that would write or publish older texts than those that are there now. */
export class ChangedMeanwhile extends Error {}

// Only writes of others cause another attempt. Scans are cached.
const maxAttempts = 20

/** @throws AppError ConflictError if other writes come between each time. */
export async function untilUnchanged<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 0; count < maxAttempts; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
  throw refuse('draft-kept-changing')
}
