/** What the gates of a project say about a draft. */
import type { GateMode, GateVerdict } from '@stet/contract/vocabulary'
import type { StoredGate, Version } from '../../projects/project.ts'
import type { FingerprintDeps } from '../../runs/tools/fingerprint-prompt.ts'
import type { Experiment } from '../experiment.ts'
import { judgingEvaluations } from '../report/judging-evaluations.ts'
import { rowHashOf } from '../rows/fingerprint.ts'
import { changedPrompts, type GatedDraft, isGatedBy } from './changed-prompts.ts'
import { comparing, type GatedPrompt, type GateResultInput, gateVerdict, hasSameRows } from './gate-verdict.ts'

interface GateResult {
  mode: GateMode
  verdicts: GateVerdict[]
  live: Pick<Version, 'uuid' | 'revision'> | null
}

// A text is seldom tried more often, and each completed experiment costs a statement.
const mostExperiments = 50

/** Adds the reader of verdicts to the other dependencies, which it uses. */
export function withGates<Others extends FingerprintDeps>(deps: Others) {
  return { ...deps, gates: { read: (draft: GatedDraft) => readVerdicts(deps, draft) } }
}

async function readVerdicts(deps: FingerprintDeps, draft: GatedDraft): Promise<GateResult> {
  const { workspaceId } = draft.owner
  const { projects, versions } = deps.stores
  const { mode, gates } = (await projects.findGates(workspaceId, draft.projectId)) ?? { mode: 'warn', gates: [] }
  if (gates.length === 0) return { mode, verdicts: [], live: null }
  const live = await versions.findLiveOptional(workspaceId, draft.projectId)
  const verdicts: GateVerdict[] = []
  for (const prompt of await changedPrompts(deps, draft, { gates, live })) {
    verdicts.push(...(await verdictsOf(deps, draft, prompt, gates)))
  }
  return { mode, verdicts, live }
}

async function verdictsOf(
  deps: FingerprintDeps,
  draft: GatedDraft,
  prompt: GatedPrompt,
  gates: readonly StoredGate[],
): Promise<GateVerdict[]> {
  const { workspaceId } = draft.owner
  const { documentUuid } = prompt
  const { examples, experiments: store } = deps.stores
  const found = await store.list(workspaceId, draft.projectId, { documentUuid, limit: mostExperiments })
  const experiments = comparing(found, prompt)
  const rows: { uuid: string; tags: readonly string[]; hash: string }[] = []
  for await (const row of examples.list(workspaceId, draft.projectId, documentUuid)) {
    rows.push({ uuid: row.uuid, tags: row.tags, hash: rowHashOf(row) })
  }
  const verdicts: GateVerdict[] = []
  for (const [place, gate] of gates.entries()) {
    if (!isGatedBy(gate, prompt)) continue
    const tagged = rows.filter(({ tags }) => gate.tag === undefined || tags.includes(gate.tag))
    const now = new Map(tagged.map(({ uuid, hash }) => [uuid, hash]))
    const result = await newestResult(deps, draft, experiments, now)
    verdicts.push(gateVerdict({ gate, place, prompt, experiments, result, rows: now.size }))
  }
  return verdicts
}

/** The newest, not the best one. */
async function newestResult(
  deps: FingerprintDeps,
  { owner }: GatedDraft,
  experiments: readonly Experiment[],
  now: ReadonlyMap<string, string>,
): Promise<GateResultInput | null> {
  for (const experiment of experiments) {
    if (experiment.state !== 'completed') continue
    const { experiments: store } = deps.stores
    if (!hasSameRows(await store.listPositions(owner.workspaceId, experiment.uuid, null), now)) continue
    const verdicts = await store.verdicts(owner.workspaceId, experiment.uuid)
    return { experiment, verdicts, evaluations: await judgingEvaluations(deps, experiment) }
  }
  return null
}
