/** A hash of everything that a run of a prompt uses beside its inputs. Verdicts belong to it, not to names of versions. */
import { hash } from 'node:crypto'
import type { RunOverrides } from '@stet/contract/vocabulary'
import type { PromptScan } from '@stet/template'
import { defined } from '@stet/template/defined'
import { AppError, RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { SourceText } from '../../documents/check-document.ts'
import { isCreatablePath } from '../../documents/document-path.ts'
import { findPrompt } from '../../documents/read-document.ts'
import { readTexts } from '../../documents/read-texts.ts'
import { resolveVersion } from '../../documents/version-ref.ts'
import { listProviders } from '../../providers/list-providers.ts'
import { chooseModel, chooseProvider } from '../../providers/resolve-provider.ts'
import type { ProjectDefaults } from '../run.ts'
import { agentPath } from './gather-tools.ts'

export type FingerprintDeps = Needs<'stores' | 'liveCache' | 'templates' | 'providers'>

export interface FingerprintInput {
  /** The text with its references. */
  text: string
  overrides: RunOverrides | null
  /** The texts of its agents and of theirs, or their hashes, by path. */
  agents: ReadonlyMap<string, string>
  /** The name of the provider key that a run would use. Null if there is none. */
  provider: string | null
  model: string | null
}

export function fingerprintOf({ text, overrides, agents, provider, model }: FingerprintInput): string {
  const sortedAgents = [...agents].sort(byKey)
  const settings = Object.entries(overrides ?? {}).sort(byKey)
  return hash('sha256', JSON.stringify([text, settings, sortedAgents, provider, model]))
}

interface FingerprintedPrompt extends AgentText {
  workspaceId: number
  projectId: number
  /** The version in which its agents are looked up. */
  versionUuid: string
  path: string
  overrides: RunOverrides | null
  projectDefaults: ProjectDefaults
}

interface AgentText {
  /** The text with its references. */
  text: string
  /** The front matter, with the overrides if the prompt has any. */
  config: Record<string, unknown>
  stepAgents: PromptScan['stepAgents']
}

export function agentText({ resolvedContent: text, config, stepAgents }: PromptScan): AgentText {
  return { text, config, stepAgents }
}

export interface AgentReader {
  /** Undefined if there is no prompt at the path. */
  read(path: string): Promise<AgentText | undefined>
  /** Returns the hashes of all prompts by path, for a step that computes its agents. */
  list(): Promise<ReadonlyMap<string, string>>
}

/**
 * Reads agents and provider keys as they are now. The model is null if a run would find none.
 * @param reader Default: reads the stored prompts of the version.
 */
export async function fingerprintPrompt(
  deps: FingerprintDeps,
  prompt: FingerprintedPrompt,
  reader: AgentReader = storedIn(deps, prompt),
): Promise<Pick<FoundProvider, 'model' | 'isDemo'> & { fingerprint: string }> {
  const { text, overrides } = prompt
  const agents = await agentTexts(prompt, reader)
  const { provider, model, isDemo } = await providerOf(deps, prompt)
  return { fingerprint: fingerprintOf({ text, overrides, agents, provider, model }), model, isDemo }
}

function storedIn(
  deps: FingerprintDeps,
  { workspaceId, projectId, versionUuid: versionRef }: FingerprintedPrompt,
): AgentReader {
  // A key that may run the prompt may also run its agents, so the restriction to a project is not checked again.
  const address = { caller: { workspaceId, projectId: null }, projectId, versionRef, isRun: true }
  return {
    async read(path) {
      const found = await unlessDeleted(findPrompt(deps, { ...address, path }))
      return found ? agentText(found.scan) : undefined
    },
    async list() {
      const found = await unlessDeleted(resolveVersion(deps, address))
      return found ? hashesIn(readTexts(deps.stores, workspaceId, found.version, {})) : new Map()
    },
  }
}

/** Resolves to undefined for a version that was deleted. */
async function unlessDeleted<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof AppError && error.code === 'NotFoundError') return undefined
    throw error
  }
}

export async function hashesIn(parts: AsyncIterable<readonly SourceText[]>): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  for await (const texts of parts) for (const { path, contentHash } of texts) hashes.set(path, contentHash)
  return hashes
}

/**
 * The texts of the agents that a run may use, and of theirs, by path. Each is read once. If a step computes its agents, a
 * parameter may name any other prompt, so they are the hashes of all others. Their references are among them.
 */
export async function agentTexts(
  root: Pick<FingerprintedPrompt, keyof AgentText | 'path'>,
  reader: AgentReader,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const open: (AgentText & { path: string })[] = [root]
  for (let from = open.pop(); from; from = open.pop()) {
    const { path: base, stepAgents, config } = from
    if (stepAgents.isComputed) return new Map([...(await reader.list())].filter(([path]) => path !== root.path))
    for (const written of [...agentsIn(config), ...stepAgents.paths]) {
      const path = agentPath(written, base)
      if (path === undefined || texts.has(path) || !isCreatablePath(path)) continue
      const found = await reader.read(path)
      if (!found) continue
      texts.set(path, found.text)
      open.push({ ...found, path })
    }
  }
  return texts
}

function agentsIn({ agents }: Record<string, unknown>): string[] {
  return Array.isArray(agents) ? agents.filter((path) => typeof path === 'string') : []
}

interface FoundProvider {
  provider: string | null
  model: string | null
  /** True if the demo provider answers. */
  isDemo: boolean
}

/** A run that finds no provider or model fails, but it is the same run each time. */
export async function providerOf(
  deps: FingerprintDeps,
  { workspaceId, config, projectDefaults }: Pick<FingerprintedPrompt, 'workspaceId' | 'config' | 'projectDefaults'>,
): Promise<FoundProvider> {
  const { defaultProvider: serverProvider, defaultModel: serverModel } = deps.providers.environment
  const entries = await listProviders(deps, workspaceId)
  try {
    const [named, model] = [textIn(config['provider']), textIn(config['model'])]
    const { provider: projectProvider, model: projectModel } = projectDefaults
    const server = defined({ serverDefault: serverProvider })
    const entry = chooseProvider(entries, { named, projectDefault: projectProvider, ...server })
    const choice = { named: model, projectDefault: projectModel, ...defined({ serverDefault: serverModel }) }
    return { provider: entry.name, model: chooseModel(entry, choice), isDemo: entry.isDemo }
  } catch (error) {
    if (error instanceof RunError) return { provider: null, model: null, isDemo: false }
    throw error
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : one > other ? 1 : 0
}
