import { join } from 'node:path'
import type { Change, ReleaseCheck, ReleaseChecks, RollbackBody, VersionDiff } from '@stet/contract/vocabulary'
import { expect } from 'vitest'
import { openDatabase } from '../../src/adapters/database/database.ts'
import { createEvaluator } from '../../src/adapters/evaluation/evaluator.ts'
import { createLiveCache } from '../../src/adapters/in-process/live-cache.ts'
import { storesFor } from '../../src/compose.ts'
import type { Needs, Stores } from '../../src/features/deps.ts'
import { listDocuments, readDocument } from '../../src/features/documents/read-document.ts'
import { createDocument, createOrUpdateDocument, deleteDocument } from '../../src/features/documents/save-document.ts'
import { readVersionRef } from '../../src/features/documents/version-ref.ts'
import type { Version } from '../../src/features/projects/project.ts'
import type { Release } from '../../src/features/projects/release.ts'
import { createProject } from '../../src/features/projects/save-project.ts'
import { rollBack } from '../../src/features/releases/roll-back.ts'
import { readChecks } from '../../src/features/versions/check-release.ts'
import { createVersion } from '../../src/features/versions/create-version.ts'
import { diffVersions } from '../../src/features/versions/diff-versions.ts'
import { publishVersion } from '../../src/features/versions/publish-version.ts'
import { moveDocument } from '../../src/features/versions/push/move-document.ts'
import { pushChanges } from '../../src/features/versions/push/push-changes.ts'
import { readTree, type TreeItem } from '../../src/features/versions/read-tree.ts'
import { revertDraft } from '../../src/features/versions/revert-draft.ts'
import type { RefusalCause } from '../../src/shared/app-error.ts'
import type { Caller } from '../../src/shared/caller.ts'
import { silent } from '../support/database-open.ts'
import { packageRoot, testDatabase } from '../support/test-database.ts'
import { defaults } from '../templates/support/engine.ts'

export type WorkbenchDeps = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'gates' | 'clock' | 'logger'>

export interface Workbench {
  deps: WorkbenchDeps
  caller: Caller
  audit: string[]
  statementCount(): number
  newCaller(change?: Partial<Caller>): Promise<Caller>
  close(): Promise<void>
}

export async function openWorkbench(): Promise<Workbench> {
  const storage = await testDatabase()
  const database = await openDatabase<Stores>({
    ...(storage.databaseUrl !== undefined && { url: storage.databaseUrl }),
    directory: join(storage.dataDir, 'db'),
    packageRoot,
    sharing: 'all',
    silenceMs: 20_000,
    storesFor,
    log: silent,
  })
  // These tests are not about the evaluation time limit, which a busy machine may exceed.
  const threadFile = join(packageRoot, 'dist', 'evaluation-thread.mjs')
  const templates = createEvaluator({ ...defaults, threadFile })
  const audit: string[] = []
  const deps: WorkbenchDeps = {
    stores: database.stores,
    transaction: database.transaction,
    liveCache: createLiveCache(),
    templates,
    clock: tickingClock(),
    logger: { ...silent, info: (event) => void audit.push(event) },
    // The projects of these tests have no gates.
    gates: { read: async () => ({ mode: 'warn', verdicts: [], live: null }) },
  }
  const newCaller = async (change: Partial<Caller> = {}): Promise<Caller> => {
    const workspace = await database.stores.workspaces.create(`workspace ${Math.random()}`)
    const author = await database.stores.workspaces.createAuthor(workspace.id, {
      name: 'Ada',
      email: 'ada@example.com',
    })
    return {
      apiKeyId: 1,
      workspaceId: workspace.id,
      author,
      scopes: ['admin'],
      projectId: null,
      limit: 100,
      sessionId: null,
      ...change,
    }
  }
  return {
    deps,
    caller: await newCaller(),
    audit,
    statementCount: () => database.statementCount(),
    newCaller,
    async close() {
      await templates.close()
      await database.close()
      await storage.close()
    },
  }
}

// Each clock reading advances by a millisecond, so an unchanged `updatedAt` proves that nothing was written.
function tickingClock() {
  let ms = Date.parse('2026-01-01T00:00:00Z')
  return {
    now() {
      ms += 1
      return new Date(ms)
    },
  }
}

/** One project with use cases bound to it. `ref` is a version or `live`. */
export interface Bench {
  projectId: number
  draft: Version
  newDraft(): Promise<Version>
  put(ref: Ref, path: string, content: string, more?: PutOptions): ReturnType<typeof createOrUpdateDocument>
  create(ref: Ref, path: string, content: string): ReturnType<typeof createDocument>
  remove(ref: Ref, path: string): ReturnType<typeof deleteDocument>
  read(ref: Ref, path: string): ReturnType<typeof readDocument>
  texts(ref: Ref): Promise<Record<string, string>>
  publish(
    ref: Ref,
    more?: { title?: string; description?: string; force?: boolean; block?: ReleaseCheck[] },
  ): Promise<Version>
  checks(ref: Ref, block?: ReleaseCheck): Promise<ReleaseChecks>
  push(ref: Ref, changes: readonly Change[]): ReturnType<typeof pushChanges>
  move(ref: Ref, from: string, to: string): ReturnType<typeof moveDocument>
  tree(ref: Ref): Promise<TreeItem[]>
  revert(ref: Ref, paths?: readonly string[]): ReturnType<typeof revertDraft>
  diff(ref: Ref, base?: Ref): Promise<VersionDiff>
  rollBack(more?: RollbackBody): ReturnType<typeof rollBack>
  /** Newest first. */
  releases(): Promise<Release[]>
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

export type Ref = Pick<Version, 'uuid'> | 'live'
type PutOptions = { force?: boolean; baseHash?: string; liveHash?: string; ifMatch?: string; ifNoneMatch?: string }

export async function newBench({ deps, caller }: Pick<Workbench, 'deps' | 'caller'>): Promise<Bench> {
  const { project, version: draft } = await createProject(deps, { caller, name: 'bench' })
  const projectId = project.id
  const at = (ref: Ref) => ({ caller, projectId, ...(ref === 'live' ? { versionRef: ref } : readVersionRef(ref.uuid)) })
  return {
    projectId,
    draft,
    newDraft: () => createVersion(deps, { caller, projectId, name: 'next' }),
    put: (ref, path, content, more = {}) =>
      createOrUpdateDocument(deps, { ...at(ref), path, content, force: false, ...more }),
    create: (ref, path, content) => createDocument(deps, { ...at(ref), path, content }),
    remove: (ref, path) => deleteDocument(deps, { ...at(ref), path }),
    read: (ref, path) => readDocument(deps, { ...at(ref), path }),
    texts: async (ref) =>
      Object.fromEntries((await all(listDocuments(deps, at(ref)))).map(({ path, content }) => [path, content])),
    checks: (ref, block) => readChecks(deps, { ...at(ref), ...(block && { block }) }),
    publish: (ref, more = {}) => publishVersion(deps, { ...at(ref), force: false, ...more }),
    push: (ref, changes) => pushChanges(deps, { ...at(ref), changes }),
    move: (ref, from, to) => moveDocument(deps, { ...at(ref), from, to }),
    tree: async (ref) => (await readTree(deps, at(ref))).items,
    revert: (ref, paths) => revertDraft(deps, { ...at(ref), ...(paths && { paths: [...paths] }) }),
    async diff(ref, base) {
      const other = base && { base: at(base) }
      const { changes, ...versions } = await diffVersions(deps, { ...at(ref), ...other })
      return { ...versions, changes: await all(changes()) }
    },
    rollBack: (more = {}) => rollBack(deps, { caller, projectId, environment: 'live', ...more }),
    releases: async () => (await deps.stores.releases.list(caller.workspaceId, projectId, { limit: 1_000 })).items,
  }
}

/** Matches the refusal with this cause. */
export function failure(reason: RefusalCause, details: Record<string, unknown> = {}): Error {
  return expect.objectContaining({ reason, details: expect.objectContaining(details) })
}
