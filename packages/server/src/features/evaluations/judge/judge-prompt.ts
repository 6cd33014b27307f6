/** The prompt of a judge: live's, or the one of the newest draft that has it, so that a judge can be tried before. */
import { RunError, refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import { readUuid } from '../../../shared/text-guards.ts'
import type { Needs } from '../../deps.ts'
import { normalizeDocumentPath } from '../../documents/document-path.ts'
import { documentNotFound, type PreparedPrompt, preparePrompt } from '../../documents/read-document.ts'
import { findProject } from '../../documents/version-ref.ts'
import type { Version } from '../../projects/project.ts'
import { readPromptConfig } from '../../templates/prompt-config.ts'

export type JudgeDeps = Needs<'stores' | 'liveCache' | 'templates'>

type Reader = Pick<Caller, 'workspaceId' | 'projectId'>

interface JudgeAddress {
  caller: Reader
  projectId: number
  /** The path or the uuid of the prompt. */
  judge: string
}

// Older drafts are seldom looked at, and each one costs a statement.
const mostDrafts = 20

/** @throws AppError NotFoundError; ServiceUnavailableError if the prompt cannot be compiled now. */
export async function findJudgePrompt(deps: JudgeDeps, address: JudgeAddress): Promise<PreparedPrompt> {
  const { caller, projectId, judge } = address
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  const uuid = readUuid(judge)
  const { versions, documents } = deps.stores
  const live = await versions.findLiveOptional(workspaceId, projectId)
  const pathIn = async (version: Version): Promise<string | undefined> => {
    const path = normalizeDocumentPath(judge)
    if (uuid === undefined) return (await documents.findOptional(workspaceId, version, path)) ? path : undefined
    const slots = await documents.listHeads(workspaceId, version)
    const slot = slots.find(({ draft, live: merged }) =>
      draft ? draft.documentUuid === uuid && draft.deletedAt === null : merged?.documentUuid === uuid,
    )
    return slot?.path
  }
  const drafts = async () => (await versions.list(workspaceId, projectId, { status: 'draft' })).slice(0, mostDrafts)
  for (const load of [async () => (live ? [live] : []), drafts]) {
    for (const version of await load()) {
      const path = await pathIn(version)
      if (path !== undefined) return preparePrompt(deps, { caller, projectId, versionRef: version.uuid, path })
    }
  }
  if (uuid !== undefined || !live) throw refuse('unknown-document-uuid')
  throw await documentNotFound(deps, workspaceId, live, normalizeDocumentPath(judge))
}

/** @throws AppError UnprocessableEntityError for a prompt that does not compile or that cannot judge. */
export function assertJudge(deps: Needs<'runs'>, { text: { path }, scan }: PreparedPrompt): void {
  const [error] = scan.errors
  const fault = error ? `it does not compile: ${error.message}` : judgeFault(deps, path, scan.config)
  if (fault !== undefined) throw refuse('not-a-judge', { path, fault })
}

function judgeFault({ runs }: Needs<'runs'>, path: string, config: Record<string, unknown>): string | undefined {
  try {
    const { schema, tools } = readPromptConfig(config, path, [...runs.serverTools.keys()])
    return tools[0] ? `it has the client tool '${tools[0].name}'` : schemaFault(schema ?? {})
  } catch (error) {
    if (error instanceof RunError) return error.message
    throw error
  }
}

function schemaFault({ type, properties, required }: Record<string, unknown>): string | undefined {
  if (type !== 'object') return 'it has no `schema` of type object'
  const typeOf = (key: string): unknown => Object(Object(properties)[key])['type']
  if (typeOf('passed') !== 'boolean') return 'its `schema` has no boolean `passed`'
  if (typeOf('reason') !== 'string') return 'its `schema` has no text `reason`'
  const names: unknown[] = Array.isArray(required) ? required : []
  return names.includes('passed') && names.includes('reason') ? undefined : '`passed` and `reason` must be required'
}
