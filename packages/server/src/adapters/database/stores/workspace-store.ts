import type { WorkspaceStore } from '../../../features/access/ports.ts'
import type { DatabaseClient } from '../database.ts'

export function postgresWorkspaceStore(client: DatabaseClient): WorkspaceStore {
  const shown = { id: true, name: true } as const
  const author = { id: true, name: true, email: true } as const
  return {
    async find(id) {
      const workspace = await client.workspace.findUnique({ where: { id }, select: shown })
      if (!workspace) throw new Error('The workspace of a key does not exist')
      return workspace
    },
    findFirst: () => client.workspace.findFirst({ select: shown, orderBy: { id: 'asc' } }),
    findByName: (name) => client.workspace.findFirst({ where: { name }, select: shown, orderBy: { id: 'asc' } }),
    create: (name) => client.workspace.create({ data: { name }, select: shown }),
    createAuthor: (workspaceId, input) => client.author.create({ data: { ...input, workspaceId }, select: author }),
    findAuthorByName: (workspaceId, name) =>
      client.author.findFirst({ where: { workspaceId, name }, select: author, orderBy: { id: 'asc' } }),
    findAuthorByEmail: (workspaceId, email) =>
      client.author.findFirst({
        where: { workspaceId, email: { equals: withoutWildcards(email), mode: 'insensitive' } },
        select: author,
        orderBy: { id: 'asc' },
      }),
    findAuthor: (workspaceId, { name, email }) =>
      client.author.findFirst({ where: { workspaceId, name, email }, select: author, orderBy: { id: 'asc' } }),
    findFirstAuthor: (workspaceId) =>
      client.author.findFirst({ where: { workspaceId }, select: author, orderBy: { id: 'asc' } }),
    async lockCreation() {
      // Another starting server holds the lock while it makes a workspace. A slow machine needs longer than the lock timeout.
      await client.$executeRaw`SET LOCAL lock_timeout = 0`
      // An arbitrary number that no other advisory lock of stet uses.
      await client.$executeRaw`SELECT pg_advisory_xact_lock(7358801)`
    },
  }
}

// Prisma compares without case with ILIKE, and does not escape its wildcards.
function withoutWildcards(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
