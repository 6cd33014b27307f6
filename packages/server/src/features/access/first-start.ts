import { OperatorError } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { apiKeyPrefix, generateApiKey, hashApiKey, isWellFormedApiKey } from './api-key.ts'

export interface NewTenant {
  workspaceId: number
  workspaceName: string
  key: string
  isGenerated: boolean
}

/** Returns null if any workspace exists. @param createProject runs in the same transaction. */
export async function createFirstWorkspace(
  deps: Needs<'transaction' | 'clock'>,
  input: {
    adminKey?: string | undefined
    createProject: CreateProject
    /** Runs before the commit. Otherwise a crash could leave a workspace whose key the operator never saw. */
    keepKey(tenant: NewTenant): void
  },
): Promise<NewTenant | null> {
  return deps.transaction(async (stores) => {
    await stores.workspaces.lockCreation()
    if (await stores.workspaces.findFirst()) return null
    const tenant = await createTenant(stores, { name: 'default', at: deps.clock.now(), ...input })
    input.keepKey(tenant)
    return tenant
  })
}

/** Creates another workspace. @throws OperatorError when the name is taken. */
export async function createWorkspace(
  deps: Needs<'transaction' | 'clock'>,
  input: { name: string; createProject: CreateProject },
): Promise<NewTenant> {
  return deps.transaction(async (stores) => {
    await stores.workspaces.lockCreation()
    if (await stores.workspaces.findByName(input.name)) {
      throw new OperatorError(`A workspace named '${input.name}' already exists`)
    }
    return createTenant(stores, { at: deps.clock.now(), ...input })
  })
}

/** Creates an admin key for a workspace whose keys were lost. @throws OperatorError for an unknown workspace. */
export async function issueAdminKey(deps: Needs<'transaction'>, name: string | undefined): Promise<NewTenant> {
  return deps.transaction(async (stores) => {
    const { workspaces } = stores
    const workspace = await (name === undefined ? workspaces.findFirst() : workspaces.findByName(name))
    if (!workspace) throw new OperatorError('Workspace not found')
    const author = await workspaces.findFirstAuthor(workspace.id)
    if (!author) throw new OperatorError('Workspace has no author')
    const key = generateApiKey()
    await saveAdminKey(stores, { workspaceId: workspace.id, author, key, name: 'admin (recovered)' })
    return { workspaceId: workspace.id, workspaceName: workspace.name, key, isGenerated: true }
  })
}

export type CreateProject = (
  stores: Stores,
  input: { workspaceId: number; authorId: number; name: string; at: Date },
) => Promise<unknown>

async function createTenant(
  stores: Stores,
  input: { name: string; adminKey?: string | undefined; createProject: CreateProject; at: Date },
): Promise<NewTenant> {
  if (input.adminKey !== undefined && !isWellFormedApiKey(input.adminKey)) {
    throw new OperatorError('The admin key does not have the form of a key')
  }
  const key = input.adminKey ?? generateApiKey()
  const workspace = await stores.workspaces.create(input.name)
  const author = await stores.workspaces.createAuthor(workspace.id, { name: 'admin', email: 'admin@localhost' })
  await saveAdminKey(stores, { workspaceId: workspace.id, author, key, name: 'admin' })
  await input.createProject(stores, { workspaceId: workspace.id, authorId: author.id, name: 'default', at: input.at })
  return { workspaceId: workspace.id, workspaceName: workspace.name, key, isGenerated: input.adminKey === undefined }
}

async function saveAdminKey(
  stores: Stores,
  input: { workspaceId: number; author: Author; key: string; name: string },
): Promise<void> {
  await stores.apiKeys.create(input.workspaceId, {
    workspaceId: input.workspaceId,
    name: input.name,
    hash: hashApiKey(input.key),
    prefix: apiKeyPrefix(input.key),
    scopes: ['admin'],
    projectId: null,
    plan: 'team',
    customLimit: null,
    author: input.author,
    expiresAt: null,
  })
}
