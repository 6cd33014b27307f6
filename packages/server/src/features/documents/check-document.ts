/** Compiles texts with their references. Compile errors are returned in `errors` and not thrown. */

import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Needs } from '../deps.ts'
import type { Version } from '../projects/project.ts'
import { wireParameters } from '../templates/parameters.ts'
import {
  EvaluationCanceled,
  type EvaluationOwner,
  type TemplateScan,
  type TemplateSource,
} from '../templates/template-engine.ts'
import type { Document, DocumentText } from './document.ts'

export interface CheckedText<T = DocumentText> {
  text: T
  source: TemplateSource
  scan: TemplateScan
}

/** The parts of a text that its compilation needs. */
export type SourceText = Pick<DocumentText, 'path' | 'content' | 'contentHash'>

export type LoadTexts = (paths: readonly string[]) => Promise<readonly SourceText[]>

// Each round loads one more level of references. The language allows 10 levels.
const maxRounds = 12
// Keeps every template worker busy without a long queue ahead of other requests.
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
    source = { ...source, documents: { ...source.documents, ...added } }
    for (const { path, contentHash } of found) hashes.set(path, contentHash)
    scan = await deps.templates.scan(source, owner)
  }
  for (const path of scan.missing) hashes.set(path, null)
  deps.templates.known.note(owner.workspaceId, text, { scan, references: hashes })
  return { text, source, scan }
}

export async function checkTexts(
  deps: Needs<'templates'>,
  texts: readonly DocumentText[],
  load: LoadTexts,
  owner: EvaluationOwner,
): Promise<CheckedText[]> {
  return inBatches(deps, texts, owner, (text) => checkText(deps, text, load, owner))
}

/** Waits for the turn of the owner's workspace. @throws AppError as `TemplateEngine.inTurn`; errors of `check`. */
export async function inBatches<T, Result>(
  deps: Needs<'templates'>,
  texts: readonly T[],
  owner: EvaluationOwner,
  check: (text: T) => Promise<Result>,
): Promise<Result[]> {
  return deps.templates.inTurn(owner, async () => {
    const results: Result[] = []
    for (let from = 0; from < texts.length; from += parallelChecks) {
      if (owner.signal?.aborted) throw new EvaluationCanceled()
      results.push(...(await Promise.all(texts.slice(from, from + parallelChecks).map(check))))
      // Cached scans never yield to the event loop. This wait gives other requests a turn.
      await setImmediate()
    }
    return results
  })
}

export function loadFromVersion(deps: Needs<'stores'>, workspaceId: number, version: Version): LoadTexts {
  return (paths) => deps.stores.documents.listByPaths(workspaceId, version, paths)
}

/** Extends `load` with `text`, as if the text were already written. */
export function loadWith(text: SourceText, load: LoadTexts): LoadTexts {
  return async (paths) => [
    ...(paths.includes(text.path) ? [text] : []),
    ...(await load(paths.filter((path) => path !== text.path))),
  ]
}

export function describeChecked(version: Version, { text, scan }: Pick<CheckedText, 'text' | 'scan'>): Document {
  return {
    ...text,
    versionUuid: version.uuid,
    resolvedContent: scan.resolvedContent,
    hasReferences: scan.references.length > 0,
    config: scan.config,
    parameters: wireParameters(scan.config, scan.parameters),
    errors: scan.errors,
  }
}

/** SHA-256 of the UTF-8 bytes, in lower-case hex. */
export function hashContent(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex')
}
