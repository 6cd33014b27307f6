/** Reads and replaces the gates of a project. */
import type { GateSettings } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import type { Needs } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import { isCreatablePath, normalizeDocumentPath } from '../../documents/document-path.ts'
import { assertVisible } from '../../documents/version-ref.ts'
import { checksName } from '../../evaluations/built-in.ts'
import type { StoredGate, StoredGates } from '../../projects/project.ts'

interface InProject {
  caller: Caller
  projectId: number
}

/** @throws AppError NotFoundError for the project. */
export async function readGates({ stores }: Needs<'stores'>, { caller, projectId }: InProject): Promise<StoredGates> {
  assertVisible(caller, projectId)
  const gates = await stores.projects.findGates(caller.workspaceId, projectId)
  if (!gates) throw refuse('unknown-project')
  return gates
}

/**
 * @throws AppError NotFoundError for the project; BadRequestError for a path that no prompt can have, a
 * repeated gate, and a name that no evaluation
 * of the project has: such a gate could never pass.
 */
export async function saveGates(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  {
    caller,
    projectId,
    mode = 'warn',
    gates,
  }: InProject & Partial<Pick<GateSettings, 'mode'>> & { gates: GateSettings['gates'] },
): Promise<StoredGates> {
  const settings: StoredGates = { mode, gates: gates.map(completed) }
  assertPaths(settings.gates)
  return changeProject(deps, { caller, projectId }, async ({ stores, audit }) => {
    const evaluations = await stores.evaluations.list(caller.workspaceId, { projectId })
    assertKnown(settings.gates, new Set(evaluations.map(({ name }) => name)))
    await stores.projects.saveGates(caller.workspaceId, projectId, settings)
    audit('audit.gates', { workspaceId: caller.workspaceId, projectId, mode, gates: gates.length, by: caller.apiKeyId })
    return settings
  })
}

function completed({
  path,
  minRows = 5,
  maxUnscored = 0.05,
  labels = 'others',
  ...rest
}: GateSettings['gates'][number]): StoredGate {
  return { path: path === '*' ? path : normalizeDocumentPath(path), minRows, maxUnscored, labels, ...rest }
}

function assertPaths(gates: readonly StoredGate[]): void {
  const seen = new Set<string>()
  for (const [index, { path, tag }] of gates.entries()) {
    if (path !== '*' && !isCreatablePath(path))
      throw refuse('invalid-body', issueAt(`gates.${index}.path`, 'is not a path'))
    const key = JSON.stringify([path, tag])
    if (seen.has(key))
      throw refuse('invalid-body', issueAt(`gates.${index}.path`, 'must differ from the other gates, or in its tag'))
    seen.add(key)
  }
}

function assertKnown(gates: readonly StoredGate[], names: ReadonlySet<string>): void {
  for (const [index, { evaluations }] of gates.entries()) {
    for (const [place, name] of evaluations.entries()) {
      if (name === checksName || names.has(name)) continue
      throw refuse(
        'invalid-body',
        issueAt(`gates.${index}.evaluations.${place}`, 'is not the name of an evaluation of the project'),
      )
    }
  }
}
