import { OperatorError } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { apiKeyPrefix, generateApiKey, hashApiKey, isWellFormedApiKey } from './api-key.ts'
import type { Workspace } from './ports.ts'

export interface NewTenant {
  workspaceId: number
  workspaceName: string
  apiKeyId: number
  key: string
  isGenerated: boolean
}

/** Creates a workspace, its admin key and a project in one transaction. Returns null if any workspace exists. */
export async function createFirstWorkspace(
  deps: Needs<'transaction' | 'clock'>,
  input: {
    adminKey?: string | undefined
    createProject: CreateProject
    /** Saves the key before the commit. Otherwise a crash could leave a workspace whose key the operator never saw. */
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

/** Creates another workspace. @throws OperatorError if the name is taken. */
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

/** Adds an admin key to the named or the first workspace. @throws OperatorError if the workspace does not exist. */
export async function issueAdminKey(deps: Needs<'transaction'>, name: string | undefined): Promise<NewTenant> {
  return deps.transaction(async (stores) => {
    const { workspaces } = stores
    const workspace = await (name === undefined ? workspaces.findFirst() : workspaces.findByName(name))
    if (!workspace) throw new OperatorError('Workspace not found')
    const author = await workspaces.findAuthor(workspace.id)
    if (!author) throw new OperatorError('Workspace has no author')
    return createAdminKey(stores, { workspace, author, name: 'admin (recovered)', adminKey: undefined })
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
  const { adminKey } = input
  if (adminKey !== undefined && !isWellFormedApiKey(adminKey)) {
    throw new OperatorError('The admin key is not well-formed. Create one with: stet-server generate-key admin')
  }
  const workspace = await stores.workspaces.create(input.name)
  const author = await stores.workspaces.createAuthor(workspace.id, { name: 'admin', email: 'admin@localhost' })
  const tenant = await createAdminKey(stores, { workspace, author, name: 'admin', adminKey })
  await input.createProject(stores, { workspaceId: workspace.id, authorId: author.id, name: 'default', at: input.at })
  return tenant
}

async function createAdminKey(
  stores: Stores,
  input: { workspace: Workspace; author: Author; name: string; adminKey: string | undefined },
): Promise<NewTenant> {
  const { workspace, author, name, adminKey } = input
  const key = adminKey ?? generateApiKey()
  const { id: apiKeyId } = await stores.apiKeys.create(workspace.id, {
    workspaceId: workspace.id,
    name,
    hash: hashApiKey(key),
    prefix: apiKeyPrefix(key),
    scopes: ['admin'],
    projectId: null,
    plan: 'team',
    customLimit: null,
    author,
    expiresAt: null,
  })
  const isGenerated = adminKey === undefined
  return { workspaceId: workspace.id, workspaceName: workspace.name, apiKeyId, key, isGenerated }
}
