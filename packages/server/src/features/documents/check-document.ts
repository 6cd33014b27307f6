/** Compiles texts with their references. Compile errors are returned in `errors` and not thrown. */

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Needs } from '../deps.ts'
import type { Version } from '../projects/project.ts'
import { wireParameters } from '../templates/parameters.ts'
import type { EvaluationOwner, KnownText, TemplateScan, TemplateSource } from '../templates/template-engine.ts'
import type { Document, DocumentText, UnresolvedDocument } from './document.ts'
import type { VersionSet } from './ports.ts'
import { readTexts } from './read-texts.ts'

export interface CheckedText<T = DocumentText> {
  text: T
  source: TemplateSource
  scan: TemplateScan
}

/** The parts of a text that its compilation needs. */
export type SourceText = Pick<DocumentText, 'path' | 'content' | 'contentHash'>

export type LoadTexts = (paths: readonly string[]) => Promise<readonly SourceText[]>

// Without comments and front matter, the language allows a resolved text of 1 MB. The evaluation thread takes little more.
const maxReferencedBytes = 2_097_152
// Each round loads one more level of references. The language allows 10 levels.
const maxRounds = 12
// Keeps the evaluation busy without a long queue ahead of other requests.
const parallelChecks = 8

export async function checkText<T extends SourceText>(
  deps: Needs<'templates'>,
  text: T,
  load: LoadTexts,
  owner: EvaluationOwner,
): Promise<CheckedText<T>> {
  let source: TemplateSource = { path: text.path, content: text.content, documents: {} }
  let scan = await deps.templates.scan(source, owner)
  const hashes = new Map<string, string | null>()
  for (let round = 0; round < maxRounds && scan.missing.length > 0; round += 1) {
    const found = await load(scan.missing)
    if (found.length === 0) break
    const added = Object.fromEntries(found.map(({ path, content }) => [path, content]))
    const documents = { ...source.documents, ...added }
    if (bytesOf(Object.values(documents)) > maxReferencedBytes) return { text, source, scan: withLargeReferences(scan) }
    source = { ...source, documents }
    for (const { path, contentHash } of found) hashes.set(path, contentHash)
    scan = await deps.templates.scan(source, owner)
  }
  for (const path of scan.missing) hashes.set(path, null)
  deps.templates.known.note(owner.workspaceId, text, { scan, hashes })
  return { text, source, scan }
}

/**
 * Yields the results in order and holds one batch of them, because a short text may resolve to a megabyte. Waits for the
 * turn of the owner's workspace before each batch, so that a slow reader delays no other request.
 * @throws AppError as `TemplateEngine.inTurn`; errors of `check` and `parts`.
 */
export async function* inBatches<T, Result>(
  deps: Needs<'templates'>,
  parts: AsyncIterable<readonly T[]>,
  owner: EvaluationOwner,
  check: (text: T) => Promise<Result>,
): AsyncGenerator<Result> {
  for await (const texts of parts) {
    for (let from = 0; from < texts.length; from += parallelChecks) {
      const batch = texts.slice(from, from + parallelChecks)
      yield* await deps.templates.inTurn(owner, () => Promise.all(batch.map(check)))
      // Cached scans never yield to the event loop. This wait gives other requests a turn.
      await setImmediate()
    }
  }
}

/** Stops when the texts are larger than a prompt may refer to. */
export function loadFromVersion(deps: Needs<'stores'>, workspaceId: number, version: VersionSet): LoadTexts {
  return async (paths) => {
    const found: SourceText[] = []
    let bytes = 0
    for await (const texts of readTexts(deps.stores, workspaceId, version, { paths })) {
      found.push(...texts)
      bytes += bytesOf(texts.map(({ content }) => content))
      if (bytes > maxReferencedBytes) break
    }
    return found
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}

/** Replaces the errors about the missing texts, which were not all read. */
function withLargeReferences(scan: TemplateScan): TemplateScan {
  const message = `The referenced prompts are larger than ${maxReferencedBytes / 1_048_576} MB`
  const missing = scan.errors.filter(({ code }) => code === 'reference-not-found')
  const errors = missing.slice(0, 1).map((issue) => ({ ...issue, code: 'limit-exceeded', message }))
  return { ...scan, missing: [], errors }
}

/** Extends `load` with texts by path, as if they were already written. Null: no prompt. */
export function loadWith(written: ReadonlyMap<string, SourceText | null>, load: LoadTexts): LoadTexts {
  return async (paths) => {
    const unwritten = paths.filter((path) => !written.has(path))
    return [...paths.flatMap((path) => written.get(path) ?? []), ...(unwritten.length > 0 ? await load(unwritten) : [])]
  }
}

export function byPath(texts: readonly SourceText[]): Map<string, SourceText> {
  return new Map(texts.map((text) => [text.path, text]))
}

export function describeChecked(version: Version, { text, scan }: Pick<CheckedText, 'text' | 'scan'>): Document {
  return { ...describeKnown(version, text, scan), resolvedContent: scan.resolvedContent }
}

export function describeKnown(version: Version, text: DocumentText, scan: KnownText): UnresolvedDocument {
  return {
    ...text,
    versionUuid: version.uuid,
    hasReferences: scan.references.length > 0,
    config: scan.config,
    parameters: wireParameters(scan.config, scan.parameters),
    errors: scan.errors,
    issues: scan.issues,
  }
}

/** SHA-256 of the UTF-8 bytes, in lower-case hex. */
export function hashContent(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex')
}
