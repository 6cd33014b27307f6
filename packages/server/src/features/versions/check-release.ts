/** The checks of a release, the same for a publication and for a caller that asks before. */
import type {
  ChecksQuery,
  GateVerdict,
  PublishVersionBody,
  ReleaseCheck,
  ReleaseChecks,
  ReleaseFinding,
} from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { isConflict } from '../documents/overlay.ts'
import { findProject, findVersionRow, ownerOf, type VersionAddress } from '../documents/version-ref.ts'
import { type CheckedHead, type CompiledDraft, compileDraft } from './drafts/compile-draft.ts'
import { hashesOfConflict } from './drafts/merge-with-live.ts'
import type { GateResult } from './ports.ts'

type CheckResult = ReleaseChecks['checks'][number]

interface ReleaseCandidate {
  conflicts: ReleaseChecks['conflicts']
  compiled: Pick<CompiledDraft, 'broken' | 'changed'>
  gates: GateResult
  /** The checks whose findings block. Conflicts and compile errors always do, and gates by their mode. */
  block: readonly ReleaseCheck[]
}

const noGates: GateResult = { mode: 'warn', verdicts: [], live: null }

function checkRelease({ conflicts, compiled, gates, block }: ReleaseCandidate): CheckResult[] {
  const compile = compiled.broken.flatMap(compileFindings)
  const configuration = compiled.changed.flatMap(configurationFindings)
  const stateOf = (count: number, blocks: boolean) => (count === 0 ? 'pass' : blocks ? 'blocked' : 'noted')
  return [
    { name: 'conflict', state: stateOf(conflicts.length, true), findings: [] },
    { name: 'compile', state: stateOf(compile.length, true), findings: compile },
    {
      name: 'configuration',
      state: stateOf(configuration.length, block.includes('configuration')),
      findings: configuration,
    },
    { name: 'gate', state: stateOf(withoutPass(gates).length, gates.mode === 'block'), findings: [] },
  ]
}

function withoutPass({ verdicts }: GateResult): GateVerdict[] {
  return verdicts.filter(({ verdict }) => verdict !== 'pass')
}

function compileFindings({ path, errors }: CheckedHead): ReleaseFinding[] {
  return errors.map(({ path: at, code, line, column, message }) => {
    return { check: 'compile', code, level: 'break', path, ...(at !== path && { in: at }), line, column, message }
  })
}

function configurationFindings({ path, refusals }: CheckedHead): ReleaseFinding[] {
  return refusals.map(({ code, line, column, message }) => {
    return { check: 'configuration', code, level: 'break', path, line, column, message }
  })
}

/**
 * @throws AppError UnprocessableEntityError with the errors of each document that does not compile; ConflictError for
 * another check that blocks.
 */
export function assertReleasable(compiled: CompiledDraft, block: readonly ReleaseCheck[]): void {
  const blocked = checkRelease({ conflicts: [], compiled, gates: noGates, block }).filter(
    ({ state }) => state === 'blocked',
  )
  if (blocked.some(({ name }) => name === 'compile')) {
    const documents = compiled.broken.map(({ path, documentUuid, errors }) => {
      return { path, documentUuid, errors: errors.map(({ path: _path, ...issue }) => issue) }
    })
    throw refuse('draft-does-not-compile', { documents })
  }
  if (blocked.length > 0) throw refuse('release-refused', { checks: blocked })
}

// Bounds the response. The others follow when these are resolved.
const shownGates = 100

/**
 * Returns the verdicts that the publication overrides.
 * @throws AppError ConflictError if the gates block and the caller does not override them.
 */
export function assertGates(gates: GateResult, override: PublishVersionBody['override'] = []): GateVerdict[] {
  const refusing = gates.mode === 'block' ? withoutPass(gates) : []
  if (refusing.length > 0 && !override.includes('gate')) throw refuse('gate', { gates: refusing.slice(0, shownGates) })
  return refusing
}

/**
 * Says what would refuse the publication of a draft now, and writes nothing.
 * @throws AppError BadRequestError for a merged version; NotFoundError.
 */
export async function readChecks(
  deps: Needs<'stores' | 'liveCache' | 'templates' | 'gates'>,
  input: VersionAddress & ChecksQuery,
): Promise<ReleaseChecks> {
  const { workspaceId } = input.caller
  const { id: projectId } = await findProject(deps, input.caller, input.projectId)
  const draft = await findVersionRow(deps.stores, input)
  if (draft.number !== null) throw refuse('not-a-draft')
  const live = await deps.stores.versions.findLiveOptional(workspaceId, projectId)
  const head = await deps.stores.versions.findHeadOptional(workspaceId, projectId)
  const slots = await deps.stores.documents.listSlotHeads(workspaceId, draft)
  const owner = ownerOf(input)
  const planned = { set: draft, slots, written: new Map() }
  const compiled = await compileDraft(deps, owner, planned)
  const gates = await deps.gates.read({ owner, projectId, ...planned })
  const conflicts = slots.filter(isConflict).map(hashesOfConflict)
  const checks = checkRelease({ conflicts, compiled, gates, block: input.block ? [input.block] : [] })
  return {
    base: live?.uuid ?? null,
    wouldNumber: (head?.number ?? 0) + 1,
    conflicts,
    checks,
    gates: gates.verdicts,
    verdict: checks.some(({ state }) => state === 'blocked') ? 'blocked' : 'pass',
  }
}
