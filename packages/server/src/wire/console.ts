import type {
  ConsoleSession as ConsoleSessionBody,
  Session as SessionBody,
  SignInPreview,
} from '@stet/contract/vocabulary'
import type { ApiKey } from '../features/access/api-key.ts'
import type { Workspace } from '../features/access/ports.ts'
import { endOf, type Session } from '../features/sessions/ports.ts'
import type { Author } from '../shared/caller.ts'
import { apiKeyBody, personBody } from './api-key.ts'

interface WorkspaceDescription extends Workspace {
  admins: readonly Author[]
}

interface ServerDescription {
  features: readonly string[]
  version: string
  database: 'embedded' | 'postgres'
}

export function sessionBody(session: Session, workspace: WorkspaceDescription, server: ServerDescription): SessionBody {
  return {
    id: session.id,
    apiKey: apiKeyBody(session.apiKey),
    workspace: { id: workspace.id, name: workspace.name },
    admins: workspace.admins.map(personBody),
    expiresAt: endOf(session).toISOString(),
    features: [...server.features],
    version: server.version,
    database: server.database === 'postgres' ? 'postgresql' : 'embedded',
  }
}

export function signInPreviewBody({ author, scopes }: ApiKey, workspace: Workspace): SignInPreview {
  return {
    workspace: { id: workspace.id, name: workspace.name },
    author: personBody(author),
    scopes: [...scopes],
  }
}

/** @param current the session of the request, or null for a request with an API key. */
export function consoleSessionBody(session: Session, current: number | null): ConsoleSessionBody {
  const { id, apiKey, userAgent, createdAt, lastSeenAt } = session
  return {
    id,
    apiKey: { id: apiKey.id, name: apiKey.name, prefix: apiKey.prefix },
    author: personBody(apiKey.author),
    userAgent,
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    expiresAt: endOf(session).toISOString(),
    isCurrent: id === current,
  }
}
