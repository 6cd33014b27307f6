/** Compiles a prompt, and renders its first step as a run would. Stores nothing and calls no provider. */
import type { CheckDocumentBody, DocumentCheck, Message } from '@stet/contract/vocabulary'
import { requireScope } from '../access/api-key.ts'
import type { Needs } from '../deps.ts'
import { checkText, hashContent, inBatches, loadFromVersion, loadWith } from '../documents/check-document.ts'
import { assertCreatablePath, normalizeDocumentPath } from '../documents/document-path.ts'
import { preparePrompt } from '../documents/read-document.ts'
import { readTexts } from '../documents/read-texts.ts'
import { ownerOf, resolveVersion, type VersionAddress } from '../documents/version-ref.ts'
import type { Version } from '../projects/project.ts'
import { type WireParameter, wireParameters } from '../templates/parameters.ts'
import { renderPrompt } from '../templates/prompt-config.ts'
import {
  CompileFailure,
  type CompileIssue,
  type EvaluationOwner,
  type PromptIssue,
  type TemplateScan,
  type TemplateSource,
} from '../templates/template-engine.ts'

type Checks = Needs<'stores' | 'liveCache' | 'templates' | 'clock'>
type CheckPromptInput = VersionAddress & CheckDocumentBody

export interface PromptCheck extends Pick<DocumentCheck, 'contentHash' | 'references' | 'referencedBy'> {
  errors: CompileIssue[]
  issues: PromptIssue[]
  config: Record<string, unknown>
  parameters: Record<string, WireParameter>
  messages: Message[] | null
  source: TemplateSource
}

interface Compiled {
  version: Version
  path: string
  contentHash: string
  source: TemplateSource
  scan: TemplateScan
}

/**
 * Compile errors are returned in `errors`.
 * @throws AppError ForbiddenError for a text without the key scope `write`; BadRequestError for the path of such a text;
 * NotFoundError; UnprocessableEntityError for parameters of a prompt that compiles; ServiceUnavailableError.
 */
export async function checkPrompt(deps: Checks, input: CheckPromptInput): Promise<PromptCheck> {
  const { workspaceId } = input.caller
  if (input.prompt !== undefined) requireScope(input.caller, ['write'])
  const owner = ownerOf(input)
  const compiled = await compile(deps, input, owner)
  const { version, path, contentHash, source, scan } = compiled
  const rendered = await renderFirstStep(deps, compiled, input.parameters, owner)
  const { references } = scan
  const found = references.length === 0 ? [] : await deps.stores.documents.listNames(workspaceId, version, references)
  const uuids = new Map(found.map((named) => [named.path, named.documentUuid]))
  return {
    source,
    contentHash,
    ...rendered,
    issues: scan.issues,
    config: scan.config,
    parameters: wireParameters(scan.config, scan.parameters),
    references: references.map((to) => ({ path: to, documentUuid: uuids.get(to) ?? null })),
    referencedBy: await listReferences(deps, version, path, owner),
  }
}

async function compile(deps: Checks, input: CheckPromptInput, owner: EvaluationOwner): Promise<Compiled> {
  const { path: given, prompt: content } = input
  if (content === undefined) {
    const { version, text, source, scan } = await preparePrompt(deps, { ...input, path: given })
    return { version, path: text.path, contentHash: text.contentHash, source, scan }
  }
  const path = normalizeDocumentPath(given)
  assertCreatablePath(path)
  const { version } = await resolveVersion(deps, input)
  const text = { path, content, contentHash: hashContent(content) }
  const load = loadWith(new Map([[path, text]]), loadFromVersion(deps, owner.workspaceId, version))
  const { source, scan } = await checkText(deps, text, load, owner)
  return { version, path, contentHash: text.contentHash, source, scan }
}

async function renderFirstStep(
  deps: Needs<'templates' | 'clock'>,
  { source, scan }: Compiled,
  given: Record<string, unknown> | undefined,
  owner: EvaluationOwner,
): Promise<Pick<PromptCheck, 'errors' | 'messages'>> {
  if (given === undefined || scan.errors.length > 0) return { errors: scan.errors, messages: null }
  try {
    return { errors: [], messages: await renderPrompt(deps, { source, scan }, given, owner) }
  } catch (error) {
    if (error instanceof CompileFailure) return { errors: [error.issue], messages: null }
    throw error
  }
}

/**
 * Scans only the texts that contain the name of the prompt. Other texts cannot refer to it. A scan returns the text's own
 * references without loading them.
 */
async function listReferences(
  deps: Checks,
  version: Version,
  path: string,
  owner: EvaluationOwner,
): Promise<DocumentCheck['referencedBy']> {
  const texts = readTexts(deps.stores, owner.workspaceId, version, { mentions: path })
  const scanned = inBatches(deps, texts, owner, async ({ path: from, content, documentUuid }) => {
    const { references } = await deps.templates.scan({ path: from, content, documents: {} }, owner)
    return references.includes(path) ? [{ path: from, documentUuid }] : []
  })
  const found: DocumentCheck['referencedBy'] = []
  for await (const referring of scanned) found.push(...referring)
  return found
}
