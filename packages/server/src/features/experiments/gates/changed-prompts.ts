/** The prompts that a publication makes run differently, with the fingerprints of the draft's text and of live's. */
import type { Needs } from '../../deps.ts'
import { checkText, inBatches, loadFromVersion, loadWith } from '../../documents/check-document.ts'
import type { DocumentText, TextHead } from '../../documents/document.ts'
import { comparePaths } from '../../documents/document-path.ts'
import { isChange, originOf } from '../../documents/overlay.ts'
import type { SlotOf, VersionSet } from '../../documents/ports.ts'
import { readTexts } from '../../documents/read-texts.ts'
import type { StoredGate, Version } from '../../projects/project.ts'
import {
  type AgentReader,
  agentText,
  type FingerprintDeps,
  fingerprintPrompt,
  hashesIn,
} from '../../runs/tools/fingerprint-prompt.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import type { GatedPrompt } from './gate-verdict.ts'

type WrittenText = Pick<DocumentText, 'path' | 'content' | 'contentHash' | 'documentUuid'>

/** A draft as a publication would make it live. */
export interface GatedDraft {
  owner: EvaluationOwner
  projectId: number
  set: VersionSet
  slots: readonly SlotOf<TextHead>[]
  /** The texts that are written over those of `set`. Null: no prompt. */
  written: ReadonlyMap<string, WrittenText | null>
}

interface Compared {
  gates: readonly StoredGate[]
  live: Version | null
}

/** By path. A prompt also changes if a reference or an agent of it does. */
export async function changedPrompts(
  deps: FingerprintDeps,
  draft: GatedDraft,
  { gates, live }: Compared,
): Promise<GatedPrompt[]> {
  const changes = new Map(draft.slots.filter(isChange).map((slot) => [slot.path, slot]))
  if (changes.size === 0) return []
  const { owner } = draft
  const inDraft = await fingerprintsIn(deps, draft)
  const inLive = live && (await fingerprintsIn(deps, { ...draft, set: live, written: new Map() }))
  const compare = async ({ path, documentUuid }: WrittenText): Promise<GatedPrompt | null> => {
    const found = await inDraft(path)
    if (!found) return null
    const origin = livePathOf(changes, path)
    const before = origin === null ? null : ((await inLive?.(origin)) ?? null)
    if (found.fingerprint === before?.fingerprint) return null
    const authors = found.paths.flatMap((each) => changes.get(each)?.draft?.updatedBy?.id ?? [])
    const { fingerprint } = found
    return {
      path,
      livePath: origin,
      documentUuid,
      fingerprint,
      liveFingerprint: before?.fingerprint ?? null,
      authorIds: new Set(authors),
    }
  }
  const prompts: GatedPrompt[] = []
  for await (const prompt of inBatches(deps, candidates(deps, draft, gates, changes), owner, compare)) {
    if (prompt) prompts.push(prompt)
  }
  return prompts.sort((one, other) => comparePaths(one.path, other.path))
}

/** A prompt that moves takes its gate with it. */
export function isGatedBy({ path: gated }: StoredGate, { path, livePath }: Pick<GatedPrompt, 'path' | 'livePath'>) {
  return gated === '*' || gated === path || gated === livePath
}

type Changes = ReadonlyMap<string, SlotOf<TextHead>>

function livePathOf(changes: Changes, path: string): string | null {
  const slot = changes.get(path)
  return slot ? originOf(slot) : path
}

/** Yields the texts that a gate applies to and that the changes can affect. */
async function* candidates(
  { stores }: Needs<'stores'>,
  { owner, set, written }: GatedDraft,
  gates: readonly StoredGate[],
  changes: Changes,
): AsyncGenerator<WrittenText[]> {
  const isGated = (path: string) => gates.some((gate) => isGatedBy(gate, { path, livePath: livePathOf(changes, path) }))
  const paths = gates.some(({ path }) => path === '*')
    ? undefined
    : [...new Set([...gates.map(({ path }) => path), ...[...changes.keys()].filter(isGated)])]
  for await (const part of readWritten(stores, { owner, set, written }, paths)) {
    yield part.filter(({ path, content }) =>
      written.has(path) ? isGated(path) : changes.has(path) || dependsOnOthers(content),
    )
  }
}

/** Yields the texts of the draft as a publication would make them live. */
async function* readWritten(
  stores: FingerprintDeps['stores'],
  { owner, set, written }: Pick<GatedDraft, 'owner' | 'set' | 'written'>,
  paths?: readonly string[],
): AsyncGenerator<WrittenText[]> {
  for await (const part of readTexts(stores, owner.workspaceId, set, { paths }))
    yield part.filter(({ path }) => !written.has(path))
  yield [...written.values()].filter((text) => text !== null)
}

function dependsOnOthers(content: string): boolean {
  return content.includes('<prompt') || content.includes('agents')
}

interface Found {
  fingerprint: string
  /** The paths of the texts that the prompt consists of. */
  paths: string[]
}

/** Returns the fingerprint that an arm with this text would have. */
async function fingerprintsIn(
  deps: FingerprintDeps,
  { owner, projectId, set, written }: Omit<GatedDraft, 'slots'>,
): Promise<(path: string) => Promise<Found | null>> {
  const project = await deps.stores.projects.findOptional(owner.workspaceId, projectId)
  const projectDefaults = { provider: project?.defaultProvider ?? null, model: project?.defaultModel ?? null }
  const load = loadWith(written, loadFromVersion(deps, owner.workspaceId, set))
  let hashes: ReturnType<AgentReader['list']> | undefined
  return async (path) => {
    const paths: string[] = []
    const read: AgentReader['read'] = async (wanted) => {
      const text = (await load([wanted])).find((each) => each.path === wanted)
      if (!text) return undefined
      const { scan, source } = await checkText(deps, text, load, owner)
      paths.push(wanted, ...Object.keys(source.documents))
      return agentText(scan)
    }
    const list: AgentReader['list'] = async () => {
      hashes ??= hashesIn(readWritten(deps.stores, { owner, set, written }))
      const all = await hashes
      paths.push(...all.keys())
      return all
    }
    const root = await read(path)
    if (!root) return null
    // Agents are read by `read`, from no stored version.
    const place = { workspaceId: owner.workspaceId, projectId, versionUuid: '', path }
    const prompt = { ...place, ...root, overrides: null, projectDefaults }
    const { fingerprint } = await fingerprintPrompt(deps, prompt, { read, list })
    return { fingerprint, paths }
  }
}
