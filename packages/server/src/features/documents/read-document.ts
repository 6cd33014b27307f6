/** Reads documents of a version with what compiling them tells; one that was read lately costs no statement. */
import { refuse } from '../../shared/app-error.ts'
import type { Needs, Project, Version } from '../deps.ts'
import { EvaluationCanceled, type EvaluationOwner } from '../templates/template-engine.ts'
import {
  type CheckedText,
  checkText,
  checkTexts,
  describeChecked,
  type LoadTexts,
  loadFromTexts,
  loadFromVersion,
} from './check-document.ts'
import type { Document, DocumentText } from './document.ts'
import { isCreatablePath, normalizeDocumentPath, normalizePathPrefix, similarPaths } from './document-path.ts'
import { ownerOf, projectScope, type ReadableVersion, resolveVersion, type VersionAddress } from './version-ref.ts'

type Reads = Needs<'stores' | 'liveCache' | 'templates'>

interface ReadText extends CheckedText {
  document: Document
  /** Warnings about its parameters that the log has, so that repeated requests are logged once. */
  loggedWarnings: Set<string>
}

/** A document with all that a run of it needs. Made once, and kept until something in its project changes. */
export interface PreparedPrompt extends Omit<ReadText, 'document'> {
  project: Project
  version: Version
}

/** Ordered by path in code point order. @throws AppError NotFoundError for the project or the version. */
export async function listDocuments(deps: Reads, input: VersionAddress & { prefix?: string }): Promise<Document[]> {
  const { version } = await resolveVersion(deps, input)
  const { workspaceId } = input.caller
  const prefix = input.prefix === undefined ? undefined : normalizePathPrefix(input.prefix)
  const texts = await deps.stores.documents.list(workspaceId, version, prefix)
  const checked = await checkTexts(
    deps,
    texts,
    loadFirstFrom(texts, loadFromVersion(deps, workspaceId, version)),
    ownerOf(input),
  )
  return checked.map((text) => describeChecked(version, text))
}

/**
 * The same object until something in the project changes, so that what is made of it can be kept by it.
 * @throws AppError NotFoundError for the project, the version or the document.
 */
export async function readDocument(deps: Reads, input: VersionAddress & { path: string }): Promise<Document> {
  const { version } = await resolveVersion(deps, input)
  return (await readExisting(deps, input, version)).document
}

/** @throws AppError NotFoundError for the project, the version or the document. A text that does not compile is given. */
export async function preparePrompt(deps: Reads, input: ReadableVersion & { path: string }): Promise<PreparedPrompt> {
  const { project, version } = await resolveVersion(deps, input)
  return { project, version, ...(await readExisting(deps, input, version)) }
}

/** Null when the version shows no document at the path. */
export async function findDocument(
  deps: Reads,
  input: ReadableVersion & { path: string },
  version: Version,
): Promise<ReadText | null> {
  const path = normalizeDocumentPath(input.path)
  if (!isCreatablePath(path)) return null
  const owner = ownerOf(input)
  const scope = projectScope(version.projectId)
  for (;;) {
    try {
      return await deps.liveCache.read(scope, documentKey(version, path), async () => {
        const text = await deps.stores.documents.findOptional(owner.workspaceId, version, path)
        const read = text && (await describeText(deps, owner, version, text))
        // A worker process that died says nothing about the text. Dropped while it loads, the answer is not kept.
        if (read?.scan.errors.some(({ code }) => code === 'limit-exceeded')) deps.liveCache.drop(scope)
        return read
      })
    } catch (error) {
      // The caller whose load was shared has left.
      if (!(error instanceof EvaluationCanceled) || owner.signal?.aborted) throw error
    }
  }
}

/** A text that was just read, compiled in the version. */
export async function describeText(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  version: Version,
  text: DocumentText,
): Promise<ReadText> {
  const checked = await checkText(deps, text, loadFromVersion(deps, owner.workspaceId, version), owner)
  return { ...checked, document: describeChecked(version, checked), loggedWarnings: new Set() }
}

// With the number: who still takes a version for a draft must not leave its overlay to those who know that it merged.
function documentKey(version: Version, path: string): string {
  return `document:${version.uuid}:${version.number ?? 'draft'}:${path}`
}

async function readExisting(
  deps: Reads,
  input: ReadableVersion & { path: string },
  version: Version,
): Promise<ReadText> {
  const found = await findDocument(deps, input, version)
  if (!found) throw await documentNotFound(deps, input.caller.workspaceId, version, normalizeDocumentPath(input.path))
  return found
}

// Guessing looks at so many paths and no more, so that a wrong path stays cheap in a large project.
const guessedFrom = 1_000

/** The error for a path without document, with paths that may have been meant. */
export async function documentNotFound(
  deps: Needs<'stores'>,
  workspaceId: number,
  version: Version,
  path: string,
): Promise<Error> {
  const paths = await deps.stores.documents.listPaths(workspaceId, version, guessedFrom)
  return refuse('unknown-document', { path, suggestions: similarPaths(path, paths, 3) })
}

function loadFirstFrom(texts: readonly DocumentText[], load: LoadTexts): LoadTexts {
  const loadKnown = loadFromTexts(texts)
  return async (paths) => {
    const known = await loadKnown(paths)
    return known.length === paths.length ? known : load(paths)
  }
}
