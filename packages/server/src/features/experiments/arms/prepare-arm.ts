/** An arm: the text that its runs use, and the fingerprint that names it. */
import type { NewExperimentArm, RunOverrides } from '@stet/contract/vocabulary'
import { withOverrides } from '@stet/template/config'
import { refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import { requireScope } from '../../access/api-key.ts'
import type { Needs } from '../../deps.ts'
import { preparePrompt } from '../../documents/read-document.ts'
import { ownerOf } from '../../documents/version-ref.ts'
import type { Version } from '../../projects/project.ts'
import { type FingerprintDeps, fingerprintPrompt } from '../../runs/tools/fingerprint-prompt.ts'
import { assertCompiles } from '../../templates/template-engine.ts'
import type { Arm, ArmText } from '../experiment.ts'

export interface ArmAddress {
  caller: Caller
  projectId: number
  path: string
}

export interface PreparedArm extends Arm {
  text: ArmText
  documentUuid: string
  /** The path in live from which the draft moved the prompt. */
  movedFrom: string | null
  /** The model that its runs use, for the estimate. Null if there is none. */
  model: string | null
}

/**
 * @throws AppError NotFoundError; ForbiddenError for overrides without the scope `write`; RunError `chain_compile_error`.
 */
export async function prepareArm(
  deps: FingerprintDeps,
  { caller, projectId, path }: ArmAddress,
  { versionUuid, overrides: given, label }: NewExperimentArm,
): Promise<PreparedArm> {
  const overrides = given && Object.keys(given).length > 0 ? given : null
  if (overrides) requireScope(caller, ['write'])
  const versionRef = versionUuid.toLowerCase() === 'draft' ? await newestDraft(deps, caller, projectId) : versionUuid
  const prepared = await preparePrompt(deps, { caller, projectId, versionRef, path })
  const { scan, source, project, version, named, text } = prepared
  assertCompiles(scan)
  const armText: ArmText = {
    ...{ source, version: named, path: text.path, usesSteps: scan.usesSteps },
    config: overrides ? withOverrides(scan.config, overrides) : scan.config,
    projectDefaults: { provider: project.defaultProvider, model: project.defaultModel },
  }
  const place = { workspaceId: caller.workspaceId, projectId, versionUuid: version.uuid, overrides }
  const texts = { text: scan.resolvedContent, stepAgents: scan.stepAgents }
  const { fingerprint, model } = await fingerprintPrompt(deps, { ...place, ...armText, ...texts })
  return {
    versionUuid: version.uuid,
    label: label ?? labelOf(version, overrides),
    ...{ overrides, fingerprint, model, text: armText },
    ...{ documentUuid: text.documentUuid, movedFrom: text.movedFrom },
  }
}

/** True if an agent or a provider key of the arm is another one than when it was prepared. */
export async function hasArmChanged(
  deps: FingerprintDeps,
  { workspaceId, projectId }: { workspaceId: number; projectId: number },
  { text, ...arm }: Arm & { text: ArmText },
): Promise<boolean> {
  const owner = ownerOf({ caller: { workspaceId, projectId: null } })
  const { resolvedContent, stepAgents } = await deps.templates.scan(text.source, owner)
  const prompt = { workspaceId, projectId, ...arm, ...text, text: resolvedContent, stepAgents }
  const { fingerprint } = await fingerprintPrompt(deps, prompt)
  return fingerprint !== arm.fingerprint
}

/** @throws AppError NotFoundError if the author has no draft. */
async function newestDraft({ stores }: Needs<'stores'>, caller: Caller, projectId: number): Promise<string> {
  const versions = await stores.versions.list(caller.workspaceId, projectId)
  const draft = versions.find(({ number, author }) => number === null && author.id === caller.author.id)
  if (!draft) throw refuse('unknown-version')
  return draft.uuid
}

function labelOf({ number, title, isLive }: Version, overrides: RunOverrides | null): string {
  const name = number === null ? `draft "${title}"` : `${isLive ? 'live ' : ''}v${number}`
  if (!overrides) return name
  const settings = Object.entries(overrides).map(([key, value]) => `${key}=${value}`)
  return `${name} (${settings.join(', ')})`
}
